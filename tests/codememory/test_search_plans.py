"""Every statement of a search, planned over fifty thousand entries: none walks a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from codememory.models import EntryKind, Project, SearchEntry
from codememory.question import ask
from codememory.search.candidates import ROWS_LEAST, asked_terms, entries_with
from codememory.search.entries import NewEntry, remove_entries, write_entries
from codememory.search.query import explain, search, terms_of
from tests.builders import make_project

pytestmark = pytest.mark.django_db

ENTRIES, TERMS, PATHS = 50_000, 20_000, 5_000
QUESTION = "why does word17 no longer keep word900 beside word4000 and word12345"
ONE_PAGE = {"codememory_searchtotal"}  # a row a project: an index would be longer than it
PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
FILL = [
    """INSERT INTO codememory_searchtotal (scope_id, changes, texts) VALUES (%(scope)s, {n}, 0)""",
    """INSERT INTO codememory_logicalchange
    (scope_id, identity, files, added_lines, removed_lines)
    SELECT %(scope)s, sha256(n::text::bytea), 1, 1, 1 FROM generate_series(1, {n}) AS n""",
    # Few terms are in many entries, as in a real history.
    """CREATE TEMP TABLE held AS
    SELECT id AS change, array(SELECT DISTINCT 1 + floor({terms} * power(random(), 4))::int
        FROM generate_series(1, 12) WHERE id > 0 ORDER BY 1) AS words
    FROM codememory_logicalchange WHERE scope_id = %(scope)s""",
    """INSERT INTO codememory_searchterm (scope_id, term, df_change, df_text)
    SELECT %(scope)s, '=word' || n, coalesce(times, 0), 0 FROM generate_series(1, {terms}) AS n
    LEFT JOIN (SELECT w, count(*) AS times FROM held, unnest(words) AS w GROUP BY w) AS held
    ON w = n ORDER BY n""",
    """INSERT INTO codememory_searchentry (scope_id, kind, logical_change_id, terms, impacts,
        shape, neighbours, analyser_revision)
    SELECT %(scope)s, 'change', change,
        array(SELECT w + (SELECT min(id) - 1 FROM codememory_searchterm
            WHERE scope_id = %(scope)s) FROM unnest(words) AS w),
        array_fill(900::smallint, ARRAY[cardinality(words)]),
        array_fill(1::smallint, ARRAY[13]), '\\x0102030405'::bytea, 2
    FROM held""",
    """INSERT INTO codememory_path (scope_id, raw, digest)
    SELECT %(scope)s, raw, sha256(raw) FROM (SELECT
        ('src/folder' || n %% 50 || '/file' || n || '.py')::bytea AS raw
        FROM generate_series(1, {paths}) AS n) AS named""",
    """INSERT INTO codememory_gitcommit (scope_id, oid, algorithm, tree_oid, parent_oids,
        author_name, author_email, author_time, author_offset, committer_time, message,
        is_message_truncated)
    SELECT %(scope)s, lpad(n::text, 40, '0'), 'sha1', repeat('0', 40), '{{}}', '', '', 0, 0, 0,
        'fx', false FROM generate_series(1, {n} / {paths}) AS n""",
    """INSERT INTO codememory_filechange (scope_id, commit_id, parent_index, kind, old_mode,
        new_mode, new_path_id, path_class, logical_change_id)
    SELECT %(scope)s, (SELECT min(id) FROM codememory_gitcommit) + place / {paths}, 0, 'M', 33188,
        33188, (SELECT min(id) FROM codememory_path) + place %% {paths}, 'NORMAL', change
    FROM (SELECT change, row_number() OVER () - 1 AS place FROM held) AS held""",
    "DROP TABLE held",
]
# The links of what is filled in are right: to check two hundred thousand of them takes the time.
UNCHECKED = "SET LOCAL session_replication_role = replica"
CHECKED = "SET LOCAL session_replication_role = origin"


@pytest.fixture
def project() -> Project:
    project = make_project()
    numbers = {"n": ENTRIES, "terms": TERMS, "paths": PATHS}
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.5)")
        cursor.execute(UNCHECKED)
        for statement in FILL:
            cursor.execute(statement.format(**numbers), {"scope": project.scope_id})
        cursor.execute(CHECKED)
        cursor.execute("SELECT gin_clean_pending_list('search_entry_terms')")
        for name in ("searchentry", "searchterm", "searchtotal", "path", "filechange"):
            cursor.execute(f"ANALYZE codememory_{name}")
    return project


@contextmanager
def planned() -> Iterator[list[dict[str, Any]]]:
    """Collect the plan of every statement that is executed inside, as it is planned there."""
    plans: list[dict[str, Any]] = []

    def explained(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        if sql.lstrip().startswith(PLANNED):
            with connection.connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
                (found,) = cursor.fetchone()
                plans.extend(found if isinstance(found, list) else json.loads(found))
        return execute(sql, params, *rest)

    with connection.execute_wrapper(explained):
        yield plans


def walks(plan: dict[str, Any]) -> list[str]:
    """The tables that a plan reads from end to end."""
    node = plan.get("Plan", plan)
    found = [node["Relation Name"]] if node["Node Type"] == "Seq Scan" else []
    found = [table for table in found if table not in ONE_PAGE]
    return found + [table for part in node.get("Plans", []) for table in walks(part)]


def test_no_statement_of_a_search_walks_a_table(project: Project) -> None:
    with planned() as plans:
        hits = search([project.scope_id], QUESTION, limit=50).hits
    assert len(hits) == 50
    assert [walks(plan) for plan in plans] == [[], [], []]  # terms, entries, what is beside them

    with planned() as plans:
        assert explain(project.scope_id, QUESTION, hits[0].entry_id)
        ask(project.scope_id, QUESTION)
    assert not any(walks(plan) for plan in plans)

    for path in (b"src/folder7/file7.py", b"src/folder7/"):
        with planned() as plans:
            assert search([project.scope_id], QUESTION, path=path).hits
        assert not any(walks(plan) for plan in plans)

    target = hits[0].target_id
    with planned() as plans:
        write_entries(project.scope_id, [NewEntry(EntryKind.CHANGE, target, {"word17": 1.0})])
        remove_entries(project.scope_id, EntryKind.CHANGE, [target])
    assert not any(walks(plan) for plan in plans)
    assert not SearchEntry.objects.filter(logical_change_id=target).exists()


def test_a_question_of_frequent_words_scores_what_holds_several_of_them(project: Project) -> None:
    question = "word3 word4 word5 word6"
    with planned() as plans:
        hits = search([project.scope_id], question, limit=100).hits
    assert not any(walks(plan) for plan in plans)
    wanted = asked_terms(terms_of(project.scope_id, question), question, [EntryKind.CHANGE])
    rows = entries_with(project.scope_id, wanted, [EntryKind.CHANGE], None)
    assert ROWS_LEAST <= len(rows) < min(asked.df for asked in wanted)
    assert len(hits) == 100
