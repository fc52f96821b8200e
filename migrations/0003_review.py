"""Decisions in full: plans, deferring, superseding, batches; and what a memory's end needs."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("codememory", "0002_composite_keys"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="memory",
            name="memory_from_a_promotion",
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="batch",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="candidate_state",
            field=models.CharField(
                choices=[
                    ("PENDING", "Pending"),
                    ("PROMOTED", "Promoted"),
                    ("REJECTED", "Rejected"),
                    ("DEFERRED", "Deferred"),
                    ("SUPERSEDED", "Superseded"),
                ],
                default="PENDING",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="reviewdecision",
            name="supersedes",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="codememory.memory",
            ),
        ),
        migrations.AlterField(
            model_name="memory",
            name="decision_action",
            field=models.CharField(default="PROMOTE", max_length=16),
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
                    ("UNDO", "Undo"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            model_name="reviewdecision",
            index=models.Index(
                condition=models.Q(("batch__isnull", False)),
                fields=["scope", "batch"],
                name="decision_batch",
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("decision_action__in", ("PROMOTE", "PROMOTE_AS_PLAN", "SUPERSEDE"))
                ),
                name="memory_from_a_promotion",
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("decision_action", "SUPERSEDE"),
                    models.Q(
                        ("decision_action", "PROMOTE_AS_PLAN"),
                        ("modality__in", ("PROPOSAL", "PLAN")),
                    ),
                    models.Q(
                        ("decision_action", "PROMOTE"),
                        models.Q(("modality__in", ("PROPOSAL", "PLAN")), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="memory_plan_stays_a_plan",
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_by__isnull", True), ("state", "ACTIVE")),
                    models.Q(
                        models.Q(("state", "ACTIVE"), _negated=True), ("ended_by__isnull", False)
                    ),
                    _connector="OR",
                ),
                name="memory_ended_by_a_decision",
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "ACTIVE")),
                fields=("scope", "candidate"),
                name="memory_active_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("action", "UNDO"), ("undoes__isnull", False)),
                    models.Q(models.Q(("action", "UNDO"), _negated=True), ("undoes__isnull", True)),
                    _connector="OR",
                ),
                name="decision_undo_names_decision",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("action", "SUPERSEDE"), ("supersedes__isnull", False)),
                    models.Q(
                        models.Q(("action", "SUPERSEDE"), _negated=True),
                        ("supersedes__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="decision_supersede_names_memory",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("state", "ACTIVE")),
                fields=["scope", "subject"],
                name="memory_subject",
            ),
        ),
        migrations.RunSQL(
            "ALTER TABLE codememory_reviewdecision"
            " ADD CONSTRAINT reviewdecision_supersedes_same_scope"
            " FOREIGN KEY (scope_id, supersedes_id) REFERENCES codememory_memory (scope_id, id)"
            " DEFERRABLE INITIALLY DEFERRED",
            "ALTER TABLE codememory_reviewdecision"
            " DROP CONSTRAINT reviewdecision_supersedes_same_scope",
        ),
    ]
