"""Multiplies what was collected of one project by SQL, until its index holds as many rows as asked.

`big.py` says what comes of it; this is the list of statements. Rows get numbers of their own and
go in without checks of their links, which are right by construction; indexes are built afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

# Built again when all rows are there: an index that grows row by row takes several times as long.
SLOW_INDEXES = (
    *("codememory_filechange", "codememory_searchentry", "codememory_observation"),
    *("codememory_candidate", "codememory_candidatetraits", "codememory_evidencelink"),
)
FILES_OF_A_CHANGE = 100

REAL = [
    # What a change is of, in its own order; of a change's files the first hundred.
    """CREATE UNLOGGED TABLE big_change AS
    SELECT row_number() OVER (ORDER BY logical_change_id) AS n, logical_change_id AS change,
        terms, impacts, shape, neighbours
    FROM codememory_searchentry WHERE scope_id = %(scope)s AND kind = 'change'""",
    "ALTER TABLE big_change ADD PRIMARY KEY (n)",
    """CREATE UNLOGGED TABLE big_file AS
    SELECT c.n, f.* FROM big_change c
    CROSS JOIN LATERAL (SELECT commit_id, parent_index FROM codememory_filechange
        WHERE scope_id = %(scope)s AND logical_change_id = c.change
        ORDER BY commit_id, parent_index LIMIT 1) first
    CROSS JOIN LATERAL (SELECT * FROM codememory_filechange
        WHERE scope_id = %(scope)s AND logical_change_id = c.change
        AND (commit_id, parent_index) = (first.commit_id, first.parent_index)
        ORDER BY id LIMIT {files}) f""",
    """CREATE UNLOGGED TABLE big_commit AS
    SELECT DISTINCT ON (f.n) f.n, c.* FROM big_file f
    JOIN codememory_gitcommit c ON c.id = f.commit_id ORDER BY f.n""",
    """CREATE UNLOGGED TABLE big_section AS
    SELECT row_number() OVER (ORDER BY e.segment_id) AS n, e.terms, e.impacts, e.neighbours,
        dense_rank() OVER (ORDER BY s.revision_id) AS r, s.*
    FROM codememory_searchentry e JOIN codememory_evidencesegment s ON s.id = e.segment_id
    WHERE e.scope_id = %(scope)s AND e.kind = 'section'""",
    "ALTER TABLE big_section ADD PRIMARY KEY (n)",
    """CREATE UNLOGGED TABLE big_revision AS
    SELECT DISTINCT s.r, v.* FROM big_section s
    JOIN codememory_sourcerevision v ON v.id = s.revision_id""",
    """CREATE UNLOGGED TABLE big_claim AS
    SELECT row_number() OVER (ORDER BY e.candidate_id) AS n, e.terms, e.impacts, e.neighbours,
        e.confidence AS entry_confidence, c.*,
        regexp_split_to_array(trim(c.statement), '\\s+') AS words
    FROM codememory_searchentry e JOIN codememory_candidate c ON c.id = e.candidate_id
    WHERE e.scope_id = %(scope)s AND e.kind = 'candidate'""",
    "ALTER TABLE big_claim ADD PRIMARY KEY (n)",
    "ANALYZE big_change, big_file, big_section, big_revision, big_claim",
]
PATHS = [
    """INSERT INTO codememory_path (scope_id, raw, digest)
    SELECT %(scope)s, raw, sha256(raw) FROM (
        SELECT ('part' || g || '/')::bytea || p.raw AS raw
        FROM (SELECT * FROM codememory_path WHERE scope_id = %(scope)s
              AND substr(raw, 1, 4) <> 'part'::bytea ORDER BY id) p,
            generate_series(1, greatest({parts}, {books})) AS g ORDER BY g, p.id) AS made
    ON CONFLICT DO NOTHING""",
    """CREATE UNLOGGED TABLE big_path AS
    SELECT g, p.id AS base, made.id FROM codememory_path p
    CROSS JOIN generate_series(1, greatest({parts}, {books})) AS g
    JOIN codememory_path made ON made.scope_id = p.scope_id
        AND made.digest = sha256(('part' || g || '/')::bytea || p.raw)
    WHERE p.scope_id = %(scope)s AND substr(p.raw, 1, 4) <> 'part'::bytea""",
    "ALTER TABLE big_path ADD PRIMARY KEY (g, base)",
    "ANALYZE big_path, codememory_path",
]
# Part g repeats the changes in their order, change for change, in its own folder. The terms up to
# one drawn from the change's own are its own, those after it are another change's: both lists are
# sorted by term, so what is joined is too.
DRAWN = """
    SELECT g, a.n AS a, 1 + floor(random() * {count})::int AS b,
        a.terms[1 + floor(random() * cardinality(a.terms))::int] AS cut
    FROM generate_series(1, {times}) AS g CROSS JOIN {table} a
    WHERE (g - 1) * {count} + a.n <= {most} ORDER BY g, a.n"""
JOINED_TERMS = """
    a.terms[:width_bucket(d.cut, a.terms)] || b.terms[width_bucket(d.cut, b.terms) + 1:],
    a.impacts[:width_bucket(d.cut, a.terms)] || b.impacts[width_bucket(d.cut, b.terms) + 1:]"""
CHANGES = [
    "CREATE UNLOGGED TABLE big_drawn AS " + DRAWN.format(
        table="big_change", count="{changes}", times="{parts}", most="{new_changes}"),
    """INSERT INTO codememory_gitcommit (id, scope_id, oid, algorithm, tree_oid, parent_oids,
        author_name, author_email, author_time, author_offset, committer_time, message,
        is_message_truncated)
    SELECT {commit} + (g - 1) * {changes} + c.n, scope_id,
        left(encode(sha256(('commit' || g || '/' || c.n)::bytea), 'hex'), 40), algorithm, tree_oid,
        parent_oids[:1], author_name, author_email, author_time, author_offset, committer_time,
        message, is_message_truncated
    FROM big_drawn d JOIN big_commit c ON c.n = d.a ORDER BY 1""",
    """INSERT INTO codememory_logicalchange
        (id, scope_id, identity, files, added_lines, removed_lines)
    SELECT {change} + (g - 1) * {changes} + a.n, %(scope)s,
        sha256(('change' || g || '/' || a.n)::bytea), l.files, l.added_lines, l.removed_lines
    FROM big_drawn d JOIN big_change a ON a.n = d.a
    JOIN codememory_logicalchange l ON l.id = a.change ORDER BY 1""",
    """INSERT INTO codememory_observation
        (scope_id, kind, logical_change_id, rationale, rule_revision)
    SELECT %(scope)s, 'FILE_CHANGED', {change} + (g - 1) * {changes} + a, 'UNKNOWN', 1
    FROM big_drawn ORDER BY 3""",
    """INSERT INTO codememory_filechange (scope_id, commit_id, parent_index, kind, old_mode,
        new_mode, old_path_id, new_path_id, similarity, path_class, content_change_id,
        hunk_numbers, unread_old_oid, unread_new_oid, logical_change_id)
    SELECT %(scope)s, {commit} + (d.g - 1) * {changes} + f.n, 0, kind, old_mode, new_mode, o.id,
        w.id, similarity, path_class, content_change_id, hunk_numbers, unread_old_oid,
        unread_new_oid, {change} + (d.g - 1) * {changes} + f.n
    FROM big_drawn d JOIN big_file f ON f.n = d.a
    LEFT JOIN big_path o ON (o.g, o.base) = (d.g, f.old_path_id)
    LEFT JOIN big_path w ON (w.g, w.base) = (d.g, f.new_path_id)
    WHERE coalesce(o.id, w.id) IS NOT NULL ORDER BY 2""",
    """INSERT INTO codememory_searchentry (scope_id, kind, logical_change_id, shape, neighbours,
        terms, impacts, analyser_revision)
    SELECT %(scope)s, 'change', {change} + (d.g - 1) * {changes} + a.n, a.shape, a.neighbours,
        {joined_terms}, 2
    FROM big_drawn d JOIN big_change a ON a.n = d.a JOIN big_change b ON b.n = d.b ORDER BY 3""",
    "DROP TABLE big_drawn",
]  # fmt: skip
SECTIONS = [
    """INSERT INTO codememory_sourcerevision (id, scope_id, kind, schema_revision, worktree_id,
        path_id, object_oid, object_algorithm, sha256, size, encoding, head_oid, branch_label,
        policy_generation, extractor_revision, is_instruction_file, captured_at)
    SELECT {revision} + (d.g - 1) * {books_read} + r, scope_id, kind, schema_revision, worktree_id,
        p.id, object_oid, object_algorithm, sha256(sha256 || ('part' || d.g)::bytea), size,
        encoding, head_oid, branch_label, policy_generation, extractor_revision,
        is_instruction_file, captured_at
    FROM generate_series(1, {books}) AS d (g) CROSS JOIN big_revision v
    JOIN big_path p ON (p.g, p.base) = (d.g, v.path_id) ORDER BY 1""",
    """INSERT INTO codememory_worktreedocument (scope_id, worktree_id, path_id, revision_id)
    SELECT scope_id, worktree_id, path_id, id FROM codememory_sourcerevision
    WHERE scope_id = %(scope)s AND id > {revision} ON CONFLICT DO NOTHING""",
    "CREATE UNLOGGED TABLE big_drawn AS " + DRAWN.format(
        table="big_section", count="{sections}", times="{books}", most="{new_sections}"),
    """INSERT INTO codememory_evidencesegment (id, scope_id, revision_id, kind, byte_start,
        byte_end, first_line, last_line, sha256, content, heading_path, redactions, is_truncated,
        created_at)
    SELECT {segment} + (d.g - 1) * {sections} + s.n, scope_id,
        {revision} + (d.g - 1) * {books_read} + r, kind, byte_start, byte_end, first_line,
        last_line, sha256(sha256 || ('part' || d.g)::bytea), content, heading_path, redactions,
        is_truncated, created_at
    FROM big_drawn d JOIN big_section s ON s.n = d.a ORDER BY 1""",
    """INSERT INTO codememory_searchentry (scope_id, kind, segment_id, neighbours, terms, impacts,
        analyser_revision)
    SELECT %(scope)s, 'section', {segment} + (d.g - 1) * {sections} + a.n, a.neighbours,
        {joined_terms}, 2
    FROM big_drawn d JOIN big_section a ON a.n = d.a JOIN big_section b ON b.n = d.b ORDER BY 3""",
    "DROP TABLE big_drawn",
]  # fmt: skip
# The first half of the words of one statement and the second of another.
CLAIMS = [
    "CREATE UNLOGGED TABLE big_drawn AS " + DRAWN.format(
        table="big_claim", count="{claims}", times="{claim_times}", most="{new_claims}"),
    """INSERT INTO codememory_candidate (id, scope_id, type, modality, statement, statement_digest,
        subject, layer, state, confidence, rule, rule_revision, flags, version, created_at)
    SELECT id, %(scope)s, type, modality, statement, sha256(convert_to(statement, 'UTF8')), subject,
        layer,
        CASE WHEN id %% 100 < 82 THEN 'PENDING' WHEN id %% 100 < 88 THEN 'DEFERRED'
            ELSE 'REJECTED' END,
        confidence, rule, rule_revision,
        CASE WHEN id %% 23 = 0 THEN '{{INSTRUCTION_LIKE}}' WHEN id %% 31 = 0
            THEN '{{UNTRUSTED_INSTRUCTIONS}}' ELSE flags END,
        1, now() - id %% 5000 * interval '1 hour'
    FROM (SELECT {claim} + (g - 1) * {claims} + a.n AS id, b.type, b.modality, a.layer, a.rule,
            a.rule_revision, b.flags, b.subject,
            least(0.99, a.confidence * (0.7 + 0.3 * random())) AS confidence,
            array_to_string(a.words[:cardinality(a.words) / 2 + 1]
                || b.words[cardinality(b.words) / 2 + 2:] || ('(part ' || g || ')'), ' ')
                AS statement
        FROM big_drawn d JOIN big_claim a ON a.n = d.a JOIN big_claim b ON b.n = d.b) AS made
    ORDER BY id""",
    # Each cites the sentence's place in some part's document.
    """INSERT INTO codememory_evidencelink (scope_id, candidate_id, segment_id, byte_start,
        byte_end, type, modality, rule, flags)
    SELECT c.scope_id, c.id, s.id, s.byte_start, s.byte_end, c.type, c.modality, c.rule, c.flags
    FROM codememory_candidate c
    JOIN codememory_evidencesegment s ON s.id = {segment} + 1 + (c.id * 7919) %% {new_sections}
    WHERE c.scope_id = %(scope)s AND c.id > {claim} ORDER BY c.id""",
    """INSERT INTO codememory_candidatetraits (scope_id, candidate_id, similar_key, sources, paths)
    SELECT c.scope_id, c.id, codememory_similar_key(c.statement), ARRAY[v.kind], ARRAY[v.path_id]
    FROM codememory_candidate c JOIN codememory_evidencelink l ON l.candidate_id = c.id
    JOIN codememory_evidencesegment s ON s.id = l.segment_id
    JOIN codememory_sourcerevision v ON v.id = s.revision_id
    WHERE c.scope_id = %(scope)s AND c.id > {claim} ORDER BY c.id""",
    """INSERT INTO codememory_reviewdecision (scope_id, candidate_id, action, actor_id, actor_kind,
        reason, candidate_version, candidate_state, shown_digest, narrow_kind, narrow_to, context,
        endorsed_action, created_at)
    SELECT scope_id, id, CASE state WHEN 'REJECTED' THEN 'REJECT' ELSE 'DEFER' END, %(actor)s,
        'PERSON', 'Not ours', 1, 'PENDING', statement_digest, '', '', '', '',
        created_at + interval '30 minutes'
    FROM codememory_candidate WHERE scope_id = %(scope)s AND id > {claim}
    AND state IN ('REJECTED', 'DEFERRED') ORDER BY id""",
    """INSERT INTO codememory_auditevent (scope_id, actor_id, action, subject, facts, created_at)
    SELECT scope_id, actor_id, 'decision', 'candidate ' || candidate_id,
        jsonb_build_object('action', action, 'decision', id), created_at
    FROM codememory_reviewdecision WHERE scope_id = %(scope)s AND candidate_id > {claim}
    ORDER BY created_at""",
    """INSERT INTO codememory_searchentry (scope_id, kind, candidate_id, type, layer, confidence,
        neighbours, terms, impacts, analyser_revision)
    SELECT %(scope)s, 'candidate', c.id, c.type, c.layer, c.confidence, a.neighbours,
        {joined_terms}, 2
    FROM big_drawn d JOIN big_claim a ON a.n = d.a JOIN big_claim b ON b.n = d.b
    JOIN codememory_candidate c ON c.id = {claim} + (d.g - 1) * {claims} + a.n ORDER BY c.id""",
    "DROP TABLE big_drawn",
]  # fmt: skip
COUNTS = [
    # An entry of no terms cannot be asked for; joined lists that happen to be empty are dropped.
    """UPDATE codememory_searchterm term SET df_change = held.changes, df_text = held.texts
    FROM (SELECT t, count(*) FILTER (WHERE kind = 'change') AS changes,
            count(*) FILTER (WHERE kind <> 'change') AS texts
        FROM codememory_searchentry, unnest(terms) AS t WHERE scope_id = %(scope)s GROUP BY t) held
    WHERE term.id = held.t AND term.scope_id = %(scope)s""",
    """UPDATE codememory_searchtotal SET changes = held.changes, texts = held.texts
    FROM (SELECT count(*) FILTER (WHERE kind = 'change') AS changes,
            count(*) FILTER (WHERE kind <> 'change') AS texts
        FROM codememory_searchentry WHERE scope_id = %(scope)s) held WHERE scope_id = %(scope)s""",
    """UPDATE codememory_refsnapshot SET stored_commits = held.n, reachable = held.n
    FROM (SELECT count(*) AS n FROM codememory_gitcommit WHERE scope_id = %(scope)s) held
    WHERE id = (SELECT max(id) FROM codememory_refsnapshot WHERE scope_id = %(scope)s)""",
]
LEFT = ("big_change", "big_file", "big_commit", "big_section", "big_revision", "big_claim",
        "big_path")  # fmt: skip


def multiply(scope_id: int, actor_id: int, rows: int, claims: int, texts: int) -> None:
    """Add changes, sections (`texts` of them) and candidates until the index holds `rows`."""
    values = {"scope": scope_id, "actor": actor_id}
    _run(REAL, values, {"files": FILES_OF_A_CHANGE})
    numbers = _numbers(scope_id, rows, claims, texts)
    with _unchecked(), _without_indexes():
        _run(["SELECT setseed(0.5)", *PATHS], values, numbers)
        _run([*CHANGES, *SECTIONS, *CLAIMS], values, numbers)
    _run(COUNTS, values, numbers)
    _settle()


def _numbers(scope_id: int, rows: int, claims: int, texts: int) -> dict[str, int]:
    real = {name: _one(f"SELECT count(*) FROM big_{name}")  # noqa: S608 -- names of our own
            for name in ("change", "section", "revision", "claim")}  # fmt: skip
    new_claims = claims - real["claim"]
    new_sections = texts - real["section"]
    memories = _one(f"SELECT count(*) FROM codememory_memory WHERE scope_id = {scope_id}")  # noqa: S608
    new_changes = rows - claims - texts - memories - real["change"]
    newest = {name: _one(f"SELECT coalesce(max(id), 0) FROM codememory_{table}")  # noqa: S608
              for name, table in (("commit", "gitcommit"), ("change", "logicalchange"),
                                  ("revision", "sourcerevision"), ("segment", "evidencesegment"),
                                  ("claim", "candidate"))}  # fmt: skip
    return {
        **newest,
        "changes": real["change"],
        "sections": real["section"],
        "books_read": real["revision"],
        "claims": real["claim"],
        "parts": -(-new_changes // real["change"]),
        "books": -(-new_sections // real["section"]),
        "claim_times": -(-new_claims // real["claim"]),
        "new_changes": new_changes,
        "new_sections": new_sections,
        "new_claims": new_claims,
    }


def _run(statements: list[str], values: dict[str, Any], numbers: dict[str, int]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            started = time.monotonic()
            text = statement.format(joined_terms=JOINED_TERMS, **numbers)
            cursor.execute(text, values if "%(" in text else None)
            print(f"{time.monotonic() - started:7.1f} s  {' '.join(text.split())[:70]}", flush=True)


def _one(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.fetchone()[0])


@contextmanager
def _unchecked() -> Iterator[None]:
    """Links are right by construction, and what triggers would write is written by statement."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SET synchronous_commit = off")
        cursor.execute("SET maintenance_work_mem = '1GB'")
        cursor.execute("SET work_mem = '256MB'")
        yield
        cursor.execute("SET session_replication_role = origin")


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Drop the indexes that hold no constraint, and build them when the rows are there."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%s) AND NOT EXISTS"
            " (SELECT 1 FROM pg_constraint WHERE conname = indexname)",
            [list(SLOW_INDEXES)],
        )
        dropped = cursor.fetchall()
        for name, _ in dropped:
            cursor.execute(f"DROP INDEX {name}")
        yield
    _run([definition for _, definition in dropped], {}, {})


def _settle() -> None:
    with connection.cursor() as cursor:
        for name in LEFT:
            cursor.execute(f"DROP TABLE {name}")
        cursor.execute(
            "SELECT table_name FROM information_schema.columns WHERE column_name = 'id'"
            " AND is_identity = 'YES' AND table_name LIKE 'codememory\\_%%'"
        )
        for (table,) in cursor.fetchall():
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'),"  # noqa: S608
                f" greatest(1, (SELECT coalesce(max(id), 1) FROM {table})))"
            )
    _run(["SELECT gin_clean_pending_list('search_entry_terms')", "VACUUM (ANALYZE)", "CHECKPOINT"],
         {}, {})  # fmt: skip
