"""Policy in full: archived sources, budgets, retention and who changed it."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("codememory", "0005_snapshots"),
    ]

    operations = [
        migrations.AddField(
            model_name="policy",
            name="actor",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="codememory.actor",
            ),
        ),
        migrations.AddField(
            model_name="policy",
            name="archived",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[("git", "Git"), ("documents", "Documents")], max_length=16
                ),
                default=list,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="policy",
            name="audit_days",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="policy",
            name="disk_bytes",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="policy",
            name="excerpt_bytes",
            field=models.PositiveIntegerField(default=49152),
        ),
        migrations.AddField(
            model_name="policy",
            name="max_document_bytes",
            field=models.PositiveIntegerField(default=2097152),
        ),
        migrations.AddField(
            model_name="policy",
            name="provider",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="policy",
            name="transcript_days",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="policy",
            name="untracked",
            field=models.BooleanField(default=False),
        ),
        migrations.AddConstraint(
            model_name="policy",
            constraint=models.CheckConstraint(
                condition=models.Q(("sources__overlap", models.F("archived")), _negated=True),
                name="policy_source_state",
            ),
        ),
        migrations.AddConstraint(
            model_name="policy",
            constraint=models.CheckConstraint(
                condition=models.Q(("provider", False)), name="policy_no_provider"
            ),
        ),
    ]
