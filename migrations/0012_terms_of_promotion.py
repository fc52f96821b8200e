"""Edited wording, narrowing, context, merging and second reviewers: columns, checks, triggers."""

import django.db.models.deletion
from django.db import migrations, models

LINKS = [
    ("evidencelink", "joined_by", "reviewdecision"),
    ("reviewdecision", "confirms", "reviewdecision"),
    ("reviewdecision", "merged_into", "candidate"),
    ("reviewdecision", "merged_into_memory", "memory"),
]
# 23514: check_violation. A memory is what its decision says, from its first day to its last.
AS_DECIDED = """
    CREATE FUNCTION codememory_memory_as_decided() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'UPDATE' THEN
            IF (NEW.statement, NEW.narrow_kind, NEW.narrow_to, NEW.context, NEW.candidate_id,
                NEW.decision_id) IS DISTINCT FROM
               (OLD.statement, OLD.narrow_kind, OLD.narrow_to, OLD.context, OLD.candidate_id,
                OLD.decision_id)
            THEN
                RAISE EXCEPTION 'a memory keeps what was decided' USING ERRCODE = '23514';
            END IF;
            RETURN NEW;
        END IF;
        PERFORM 1
        FROM codememory_reviewdecision d
        JOIN codememory_candidate c ON c.scope_id = d.scope_id AND c.id = d.candidate_id
        WHERE d.scope_id = NEW.scope_id AND d.id = NEW.decision_id
          AND d.candidate_id = NEW.candidate_id
          AND (NEW.statement, NEW.narrow_kind, NEW.narrow_to, NEW.context)
            = (COALESCE(d.wording, c.statement), d.narrow_kind, d.narrow_to, d.context);
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a memory says what its decision says' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END $$
"""
# Whoever confirms is another person, confirms the latest word on this very candidate, and the same
# terms. Where the project asks for two people, nothing is promoted otherwise.
SECOND_REVIEWER = """
    CREATE FUNCTION codememory_second_reviewer() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.action NOT IN ('PROMOTE', 'PROMOTE_AS_PLAN', 'SUPERSEDE') THEN
            RETURN NEW;
        END IF;
        IF NEW.confirms_id IS NULL THEN
            IF EXISTS (SELECT 1 FROM codememory_project p
                       WHERE p.scope_id = NEW.scope_id AND p.second_reviewer)
            THEN
                RAISE EXCEPTION 'this project asks for a second reviewer'
                    USING ERRCODE = '23514';
            END IF;
            RETURN NEW;
        END IF;
        PERFORM 1
        FROM codememory_reviewdecision e
        WHERE e.scope_id = NEW.scope_id AND e.id = NEW.confirms_id
          AND e.action = 'ENDORSE' AND e.endorsed_action = NEW.action
          AND e.candidate_id = NEW.candidate_id AND e.actor_id <> NEW.actor_id
          AND e.shown_digest = NEW.shown_digest
          AND (e.wording, e.narrow_kind, e.narrow_to, e.context, e.supersedes_id)
              IS NOT DISTINCT FROM
              (NEW.wording, NEW.narrow_kind, NEW.narrow_to, NEW.context, NEW.supersedes_id)
          AND NOT EXISTS (SELECT 1 FROM codememory_reviewdecision u
                          WHERE u.scope_id = e.scope_id AND u.undoes_id = e.id);
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a second person confirms what the first one endorsed'
                USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END $$
"""


def add_key(table, link, target):
    return migrations.RunSQL(
        f"ALTER TABLE codememory_{table} ADD CONSTRAINT {table}_{link}_same_scope "
        f"FOREIGN KEY (scope_id, {link}_id) REFERENCES codememory_{target} (scope_id, id) "
        "DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE codememory_{table} DROP CONSTRAINT {table}_{link}_same_scope",
    )


def guard(function, sql, table, events):
    return migrations.RunSQL(
        [
            sql,
            f"""
            CREATE TRIGGER {function} BEFORE {events} ON codememory_{table}
            FOR EACH ROW EXECUTE FUNCTION codememory_{function}()
            """,
            f"ALTER TABLE codememory_{table} ENABLE ALWAYS TRIGGER {function}",
        ],
        [
            f"DROP TRIGGER {function} ON codememory_{table}",
            f"DROP FUNCTION codememory_{function}()",
        ],
    )


class Migration(migrations.Migration):
    dependencies = [
        ("codememory", "0011_second_stage"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="reviewdecision",
            name="decision_supersede_names_memory",
        ),
        migrations.AddField(
            model_name="evidencelink",
            name="joined_by",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="codememory.reviewdecision",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="context",
            field=models.TextField(default=""),
        ),
        migrations.AddField(
            model_name="memory",
            name="narrow_kind",
            field=models.CharField(
                blank=True,
                choices=[("PATH", "Path"), ("SYMBOL", "Symbol")],
                default="",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="narrow_to",
            field=models.TextField(default=""),
        ),
        migrations.AddField(
            model_name="project",
            name="second_reviewer",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="confirms",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="codememory.reviewdecision",
            ),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="context",
            field=models.TextField(default=""),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="endorsed_action",
            field=models.CharField(default="", max_length=16),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="merged_into",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="codememory.candidate",
            ),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="merged_into_memory",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="codememory.memory",
            ),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="narrow_kind",
            field=models.CharField(
                blank=True,
                choices=[("PATH", "Path"), ("SYMBOL", "Symbol")],
                default="",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="narrow_to",
            field=models.TextField(default=""),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="wording",
            field=models.TextField(null=True),
        ),
        migrations.AlterField(
            model_name="reviewdecision",
            name="action",
            field=models.CharField(
                choices=[
                    ("PROMOTE", "Promote"),
                    ("PROMOTE_AS_PLAN", "Promote As Plan"),
                    ("REJECT", "Reject"),
                    ("DEFER", "Defer"),
                    ("SUPERSEDE", "Supersede"),
                    ("MERGE", "Merge"),
                    ("ENDORSE", "Endorse"),
                    ("UNDO", "Undo"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            model_name="reviewdecision",
            index=models.Index(
                condition=models.Q(("action", "MERGE")),
                fields=["scope", "merged_into", "merged_into_memory"],
                name="decision_merged",
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("narrow_kind", ""), ("narrow_to", "")),
                    models.Q(
                        ("narrow_kind__in", ["PATH", "SYMBOL"]),
                        models.Q(("narrow_to", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="memory_narrowed_to",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("action", "SUPERSEDE"), ("supersedes__isnull", False)),
                    models.Q(
                        ("action", "ENDORSE"),
                        ("endorsed_action", "SUPERSEDE"),
                        ("supersedes__isnull", False),
                    ),
                    models.Q(
                        models.Q(("action", "SUPERSEDE"), _negated=True),
                        models.Q(("endorsed_action", "SUPERSEDE"), _negated=True),
                        ("supersedes__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="decision_supersede_names_memory",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("action", "ENDORSE"),
                        ("endorsed_action__in", ("PROMOTE", "PROMOTE_AS_PLAN", "SUPERSEDE")),
                    ),
                    models.Q(
                        models.Q(("action", "ENDORSE"), _negated=True), ("endorsed_action", "")
                    ),
                    _connector="OR",
                ),
                name="decision_endorse_names_promotion",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("action__in", ["PROMOTE", "PROMOTE_AS_PLAN", "SUPERSEDE", "ENDORSE"]),
                    models.Q(("context", ""), ("narrow_kind", ""), ("wording__isnull", True)),
                    _connector="OR",
                ),
                name="decision_terms_of_a_promotion",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("wording", ""), _negated=True),
                name="decision_wording_says_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("narrow_kind", ""), ("narrow_to", "")),
                    models.Q(
                        ("narrow_kind__in", ["PATH", "SYMBOL"]),
                        models.Q(("narrow_to", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="decision_narrowed_to",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("confirms__isnull", True),
                    ("action__in", ("PROMOTE", "PROMOTE_AS_PLAN", "SUPERSEDE")),
                    _connector="OR",
                ),
                name="decision_confirms_by_promoting",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("action", "MERGE"),
                        ("merged_into__isnull", False),
                        ("merged_into_memory__isnull", True),
                    ),
                    models.Q(
                        ("action", "MERGE"),
                        ("merged_into__isnull", True),
                        ("merged_into_memory__isnull", False),
                    ),
                    models.Q(
                        models.Q(("action", "MERGE"), _negated=True),
                        ("merged_into__isnull", True),
                        ("merged_into_memory__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="decision_merge_names_target",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("merged_into", models.F("candidate")), _negated=True),
                name="decision_merge_into_another",
            ),
        ),
        *[add_key(*link) for link in LINKS],
        guard("memory_as_decided", AS_DECIDED, "memory", "INSERT OR UPDATE"),
        guard("second_reviewer", SECOND_REVIEWER, "reviewdecision", "INSERT"),
    ]
