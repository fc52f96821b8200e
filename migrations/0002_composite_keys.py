"""Composite foreign keys, append-only triggers and the fence sequence: what models cannot say."""

from django.db import migrations

# (table, link, target): (scope_id, <link>_id) of the table refers to (scope_id, id) of the target.
LINKS = [
    ("documentsection", "revision", "sourcerevision"),
    ("evidencelink", "candidate", "candidate"),
    ("evidencelink", "memory", "memory"),
    ("evidencelink", "segment", "evidencesegment"),
    ("evidencesegment", "commit", "gitcommit"),
    ("evidencesegment", "revision", "sourcerevision"),
    ("filechange", "commit", "gitcommit"),
    ("filechange", "content_change", "contentchange"),
    ("filechange", "logical_change", "logicalchange"),
    ("filechange", "new_path", "path"),
    ("filechange", "old_path", "path"),
    ("gaprecord", "path", "path"),
    ("gaprecord", "run", "run"),
    ("memory", "candidate", "candidate"),
    ("memory", "decision", "reviewdecision"),
    ("memory", "ended_by", "reviewdecision"),
    ("observation", "logical_change", "logicalchange"),
    ("refsnapshot", "worktree", "worktree"),
    ("reviewdecision", "candidate", "candidate"),
    ("reviewdecision", "undoes", "reviewdecision"),
    ("run", "worktree", "worktree"),
    ("searchentry", "candidate", "candidate"),
    ("searchentry", "logical_change", "logicalchange"),
    ("searchentry", "memory", "memory"),
    ("searchentry", "segment", "evidencesegment"),
    ("sourcerevision", "path", "path"),
    ("sourcerevision", "worktree", "worktree"),
    ("worktreedocument", "path", "path"),
    ("worktreedocument", "revision", "sourcerevision"),
    ("worktreedocument", "worktree", "worktree"),
]
APPEND_ONLY = ["reviewdecision", "auditevent", "policy"]


def add_key(table, columns, target, target_columns, name):
    return migrations.RunSQL(
        f"ALTER TABLE codememory_{table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) "
        f"REFERENCES codememory_{target} ({target_columns}) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE codememory_{table} DROP CONSTRAINT {name}",
    )


def forbid_changes(table):
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON codememory_{table} "
        f"FOR EACH ROW EXECUTE FUNCTION codememory_append_only()",
        f"DROP TRIGGER {table}_append_only ON codememory_{table}",
    )


class Migration(migrations.Migration):
    dependencies = [("codememory", "0001_initial")]
    operations = [
        *[
            add_key(
                table, f"scope_id, {link}_id", target, "scope_id, id", f"{table}_{link}_same_scope"
            )
            for table, link, target in LINKS
        ],
        add_key(
            "reviewdecision",
            "actor_id, actor_kind",
            "actor",
            "id, kind",
            "reviewdecision_actor_kind",
        ),
        add_key(
            "memory",
            "scope_id, decision_id, decision_action",
            "reviewdecision",
            "scope_id, id, action",
            "memory_decision_is_promotion",
        ),
        migrations.RunSQL(
            # 55000: object_not_in_prerequisite_state
            """
            CREATE FUNCTION codememory_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                -- A project that is removed whole takes its decisions and policies along: its
                -- transaction says so by its scope. The audit trail stays even then.
                IF TG_OP = 'DELETE' AND TG_TABLE_NAME <> 'codememory_auditevent'
                   AND current_setting('codememory.purging', true) = to_jsonb(OLD)->>'scope_id'
                THEN
                    RETURN OLD;
                END IF;
                RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = '55000';
            END $$
            """,
            "DROP FUNCTION codememory_append_only()",
        ),
        *[forbid_changes(table) for table in APPEND_ONLY],
        # Uncompressed arrays: searching unpacks many of them, and they hardly shrink.
        migrations.RunSQL(
            "ALTER TABLE codememory_searchentry SET (toast_tuple_target = 8160)",
            "ALTER TABLE codememory_searchentry RESET (toast_tuple_target)",
        ),
        # Every batch updates frequencies in place.
        migrations.RunSQL(
            "ALTER TABLE codememory_searchterm SET (fillfactor = 70)",
            "ALTER TABLE codememory_searchterm RESET (fillfactor)",
        ),
        migrations.RunSQL("CREATE SEQUENCE codememory_fence", "DROP SEQUENCE codememory_fence"),
    ]
