"""History of documents: what each commit did to their sections, and what candidates replace."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# (table, link, target): (scope_id, <link>_id) of the table refers to (scope_id, id) of the target.
LINKS = [
    ("candidate", "replaces", "evidencesegment"),
    ("sectionchange", "commit", "gitcommit"),
    ("sectionchange", "new_revision", "sourcerevision"),
    ("sectionchange", "old_revision", "sourcerevision"),
]


def add_key(table, link, target):
    name = f"{table}_{link}_same_scope"
    return migrations.RunSQL(
        f"ALTER TABLE codememory_{table} ADD CONSTRAINT {name} FOREIGN KEY (scope_id, {link}_id) "
        f"REFERENCES codememory_{target} (scope_id, id) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE codememory_{table} DROP CONSTRAINT {name}",
    )


def link(to, *, null=False):
    return models.ForeignKey(
        db_constraint=False,
        db_index=False,
        null=null,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
        to=f"codememory.{to}",
    )


def array(base, **options):
    return django.contrib.postgres.fields.ArrayField(base_field=base, size=None, **options)


class Migration(migrations.Migration):
    dependencies = [("codememory", "0003_review")]
    operations = [
        migrations.AddField(
            "candidate", "replaced_in_commit", models.CharField(max_length=64, null=True)
        ),
        migrations.AddField("candidate", "replaces", link("evidencesegment", null=True)),
        migrations.CreateModel(
            name="SectionChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("ADDED", "Added"),
                            ("CHANGED", "Changed"),
                            ("MOVED", "Moved"),
                            ("REMOVED", "Removed"),
                            ("RENAMED_HEADING", "Renamed Heading"),
                        ],
                        max_length=16,
                    ),
                ),
                ("old_heading_path", array(models.TextField(), null=True)),
                ("new_heading_path", array(models.TextField(), null=True)),
                ("old_ordinal", models.PositiveIntegerField(null=True)),
                ("new_ordinal", models.PositiveIntegerField(null=True)),
                ("old_start", models.BigIntegerField(null=True)),
                ("old_end", models.BigIntegerField(null=True)),
                ("new_start", models.BigIntegerField(null=True)),
                ("new_end", models.BigIntegerField(null=True)),
                ("old_first_line", models.IntegerField(null=True)),
                ("old_last_line", models.IntegerField(null=True)),
                ("new_first_line", models.IntegerField(null=True)),
                ("new_last_line", models.IntegerField(null=True)),
                ("old_sha256", models.BinaryField(max_length=32, null=True)),
                ("new_sha256", models.BinaryField(max_length=32, null=True)),
                ("sentence_keys", array(models.BigIntegerField(), default=list)),
                ("replaced_ranges", array(models.IntegerField(), default=list)),
                ("rule_revision", models.PositiveSmallIntegerField(default=1)),
                ("commit", link("gitcommit")),
                ("new_revision", link("sourcerevision", null=True)),
                ("old_revision", link("sourcerevision", null=True)),
                (
                    "scope",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="codememory.scope",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "id"), name="sectionchange_scope_id"),
                    models.UniqueConstraint(
                        fields=(
                            "scope",
                            "commit",
                            "old_revision",
                            "old_start",
                            "new_revision",
                            "new_start",
                        ),
                        name="section_change_identity",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        *[add_key(*key) for key in LINKS],
    ]
