"""A digest of all that was collected in a scope, by content: row numbers do not matter."""

from __future__ import annotations

from django.db import connection

# Each selects the natural content of one table of scope %s, one text a row.
QUERIES = {
    "commits": """
        SELECT oid || tree_oid || parent_oids::text || message::text FROM codememory_gitcommit
        WHERE scope_id = %s
    """,
    "content_changes": """
        SELECT concat_ws('|', old_oid, new_oid, content_class, added_lines, removed_lines,
                         hunk_ranges::text, hunk_digests::text)
        FROM codememory_contentchange WHERE scope_id = %s
    """,
    "logical_changes": """
        SELECT concat_ws('|', identity::text, files, added_lines, removed_lines)
        FROM codememory_logicalchange WHERE scope_id = %s
    """,
    "file_changes": """
        SELECT concat_ws('|', c.oid, f.parent_index, f.kind, f.old_mode, f.new_mode, o.raw::text,
                         n.raw::text, f.path_class, x.old_oid, x.new_oid, f.unread_old_oid,
                         f.unread_new_oid, l.identity::text, f.hunk_numbers::text)
        FROM codememory_filechange f
        JOIN codememory_gitcommit c ON c.id = f.commit_id
        LEFT JOIN codememory_path o ON o.id = f.old_path_id
        LEFT JOIN codememory_path n ON n.id = f.new_path_id
        LEFT JOIN codememory_contentchange x ON x.id = f.content_change_id
        LEFT JOIN codememory_logicalchange l ON l.id = f.logical_change_id
        WHERE f.scope_id = %s
    """,
    "code_facts": """
        SELECT concat_ws('|', x.old_oid, x.new_oid, k.language, k.coverage, k.reason, k.difference,
                         k.hunk_keys::text)
        FROM codememory_codefacts k JOIN codememory_contentchange x ON x.id = k.content_change_id
        WHERE k.scope_id = %s
    """,
    "symbol_changes": """
        SELECT concat_ws('|', x.old_oid, x.new_oid, s.position, s.kind, s.symbol_kind,
                         n.qualified, o.qualified, s.confidence, s.old_first_line,
                         s.old_last_line, s.new_first_line, s.new_last_line, s.old_body,
                         s.new_body, s.hunk_numbers::text)
        FROM codememory_symbolchange s
        JOIN codememory_contentchange x ON x.id = s.content_change_id
        JOIN codememory_symbolname n ON n.id = s.name_id
        LEFT JOIN codememory_symbolname o ON o.id = s.old_name_id WHERE s.scope_id = %s
    """,
    "symbol_moves": """
        SELECT concat_ws('|', c.oid, a.position, b.position, x.new_oid, y.new_oid, m.confidence)
        FROM codememory_symbolmove m JOIN codememory_gitcommit c ON c.id = m.commit_id
        JOIN codememory_symbolchange a ON a.id = m.removed_id
        JOIN codememory_symbolchange b ON b.id = m.added_id
        JOIN codememory_contentchange x ON x.id = a.content_change_id
        JOIN codememory_contentchange y ON y.id = b.content_change_id WHERE m.scope_id = %s
    """,
    "reversals": """
        SELECT concat_ws('|', c.oid, d.oid, r.level, p.raw::text, q.raw::text,
                         r.later_hunks::text, r.earlier_hunks::text, n.qualified, r.share,
                         r.is_whole)
        FROM codememory_reversal r
        JOIN codememory_filechange l ON l.id = r.later_id
        JOIN codememory_filechange e ON e.id = r.earlier_id
        JOIN codememory_gitcommit c ON c.id = l.commit_id
        JOIN codememory_gitcommit d ON d.id = e.commit_id
        LEFT JOIN codememory_path p ON p.id = coalesce(l.new_path_id, l.old_path_id)
        LEFT JOIN codememory_path q ON q.id = coalesce(e.new_path_id, e.old_path_id)
        LEFT JOIN codememory_symbolname n ON n.id = r.symbol_id WHERE r.scope_id = %s
    """,
    "path_origins": """
        SELECT concat_ws('|', c.oid, n.raw::text, p.raw::text, o.kind, o.score, o.state)
        FROM codememory_pathorigin o
        JOIN codememory_filechange f ON f.id = o.file_change_id
        JOIN codememory_gitcommit c ON c.id = f.commit_id
        JOIN codememory_path n ON n.id = f.new_path_id
        JOIN codememory_path p ON p.id = o.source_id WHERE o.scope_id = %s
    """,
    "revisions": """
        SELECT concat_ws('|', p.raw::text, r.object_oid, r.sha256::text, r.size, r.encoding,
                         r.is_instruction_file)
        FROM codememory_sourcerevision r
        JOIN codememory_path p ON p.id = r.path_id WHERE r.scope_id = %s
    """,
    "section_changes": """
        SELECT concat_ws('|', c.oid, s.kind, p.raw::text, o.object_oid, s.old_heading_path::text,
                         s.old_start, q.raw::text, n.object_oid, s.new_heading_path::text,
                         s.new_start, s.sentence_keys::text, s.replaced_ranges::text)
        FROM codememory_sectionchange s
        JOIN codememory_gitcommit c ON c.id = s.commit_id
        LEFT JOIN codememory_sourcerevision o ON o.id = s.old_revision_id
        LEFT JOIN codememory_path p ON p.id = o.path_id
        LEFT JOIN codememory_sourcerevision n ON n.id = s.new_revision_id
        LEFT JOIN codememory_path q ON q.id = n.path_id
        WHERE s.scope_id = %s
    """,
    "segments": """
        SELECT concat_ws('|', p.raw::text, r.sha256::text, s.byte_start, s.byte_end,
                         s.sha256::text, s.content::text)
        FROM codememory_evidencesegment s
        JOIN codememory_sourcerevision r ON r.id = s.revision_id
        JOIN codememory_path p ON p.id = r.path_id WHERE s.scope_id = %s
    """,
    "candidates": """
        SELECT concat_ws('|', c.type, c.modality, c.statement, c.state, c.replaced_in_commit,
                         s.sha256::text)
        FROM codememory_candidate c
        LEFT JOIN codememory_evidencesegment s ON s.id = c.replaces_id
        WHERE c.scope_id = %s
    """,
    "gaps": """
        SELECT concat_ws('|', g.source, g.reason, p.raw::text, g.object_oid, g.commit_oid)
        FROM codememory_gaprecord g LEFT JOIN codememory_path p ON p.id = g.path_id
        WHERE g.scope_id = %s
    """,
    "entries": """
        SELECT concat_ws('|', e.kind, l.identity::text, s.sha256::text, c.statement,
            (SELECT string_agg(t.term || '=' || u.impact, ' ' ORDER BY t.term)
             FROM unnest(e.terms, e.impacts) u (term, impact)
             JOIN codememory_searchterm t ON t.id = u.term))
        FROM codememory_searchentry e
        LEFT JOIN codememory_logicalchange l ON l.id = e.logical_change_id
        LEFT JOIN codememory_evidencesegment s ON s.id = e.segment_id
        LEFT JOIN codememory_candidate c ON c.id = e.candidate_id
        WHERE e.scope_id = %s
    """,
    "terms": """
        SELECT concat_ws('|', term, df_change, df_text) FROM codememory_searchterm
        WHERE scope_id = %s AND df_change + df_text > 0
    """,
}


def fingerprint(scope_id: int) -> dict[str, tuple[int, str]]:
    """Return count and digest of the rows of each table."""
    found = {}
    with connection.cursor() as cursor:
        for name, query in QUERIES.items():
            cursor.execute(
                "SELECT count(*), coalesce(md5(string_agg(row, chr(10) ORDER BY row)), '')"
                f" FROM ({query}) AS all_rows (row)",
                [scope_id],
            )
            count, digest = cursor.fetchone()
            found[name] = (int(count), str(digest))
    return found
