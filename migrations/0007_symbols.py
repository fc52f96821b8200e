"""Symbols and what changed of them, reversals, doubtful origins of files, how far all that is."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models
from django.db.models.functions import Now

# (table, link, target): (scope_id, <link>_id) of the table refers to (scope_id, id) of the target.
LINKS = [
    ("codefacts", "content_change", "contentchange"),
    ("pathorigin", "file_change", "filechange"),
    ("pathorigin", "source", "path"),
    ("reversal", "earlier", "filechange"),
    ("reversal", "later", "filechange"),
    ("reversal", "symbol", "symbolname"),
    ("symbolchange", "content_change", "contentchange"),
    ("symbolchange", "name", "symbolname"),
    ("symbolchange", "old_name", "symbolname"),
    ("symbolmove", "added", "symbolchange"),
    ("symbolmove", "commit", "gitcommit"),
    ("symbolmove", "removed", "symbolchange"),
]


def add_key(table, link, target):
    name = f"{table}_{link}_same_scope"
    return migrations.RunSQL(
        f"ALTER TABLE codememory_{table} ADD CONSTRAINT {name} FOREIGN KEY (scope_id, {link}_id) "
        f"REFERENCES codememory_{target} (scope_id, id) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE codememory_{table} DROP CONSTRAINT {name}",
    )


def number():
    return models.BigAutoField(
        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
    )


def scope():
    return models.ForeignKey(
        db_index=False, on_delete=models.DO_NOTHING, related_name="+", to="codememory.scope"
    )


def link(to, *, null=False, name="+"):
    return models.ForeignKey(
        db_constraint=False,
        db_index=False,
        null=null,
        on_delete=models.DO_NOTHING,
        related_name=name,
        to=f"codememory.{to}",
    )


def array(base):
    return ArrayField(base_field=base, default=list, size=None)


def same(*words):
    return [(word, word) for word in words]


class Migration(migrations.Migration):
    dependencies = [
        ("codememory", "0006_policy"),
    ]

    operations = [
        migrations.CreateModel(
            name="SymbolName",
            fields=[
                ("id", number()),
                ("qualified", models.TextField()),
                ("leaf", models.CharField(max_length=200)),
                ("digest", models.BinaryField(max_length=32)),
                ("scope", scope()),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="SymbolChange",
            fields=[
                ("id", number()),
                ("position", models.IntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=same(
                            "ADDED",
                            "REMOVED",
                            "MODIFIED",
                            "SIGNATURE",
                            "RENAMED",
                            "MOVED",
                            "FORMATTING_ONLY",
                            "COMMENT_ONLY",
                        ),
                        max_length=16,
                    ),
                ),
                (
                    "symbol_kind",
                    models.CharField(
                        choices=same(
                            "FUNCTION",
                            "METHOD",
                            "CLASS",
                            "INTERFACE",
                            "TRAIT",
                            "STRUCT",
                            "ENUM",
                            "MODULE",
                            "TYPE",
                            "PROPERTY",
                            "RELATION",
                            "MACRO",
                            "TABLE",
                            "VIEW",
                            "SECTION",
                        ),
                        max_length=12,
                    ),
                ),
                ("confidence", models.PositiveSmallIntegerField()),
                ("old_first_line", models.IntegerField(null=True)),
                ("old_last_line", models.IntegerField(null=True)),
                ("new_first_line", models.IntegerField(null=True)),
                ("new_last_line", models.IntegerField(null=True)),
                ("old_body", models.BigIntegerField(null=True)),
                ("new_body", models.BigIntegerField(null=True)),
                ("hunk_numbers", array(models.IntegerField())),
                ("content_change", link("contentchange", name="symbol_changes")),
                ("scope", scope()),
                ("name", link("symbolname")),
                ("old_name", link("symbolname", null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Reversal",
            fields=[
                ("id", number()),
                (
                    "level",
                    models.CharField(
                        choices=[("FILE", "File"), ("HUNK", "Hunk"), ("SYMBOL", "Symbol")],
                        max_length=6,
                    ),
                ),
                ("later_hunks", array(models.IntegerField())),
                ("earlier_hunks", array(models.IntegerField())),
                ("share", models.PositiveSmallIntegerField()),
                ("is_whole", models.BooleanField()),
                ("earlier", link("filechange")),
                ("later", link("filechange")),
                ("scope", scope()),
                ("symbol", link("symbolname", null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="CodeFacts",
            fields=[
                ("id", number()),
                ("language", models.CharField(max_length=20, null=True)),
                (
                    "coverage",
                    models.CharField(
                        choices=same("FULL", "PARTIAL", "TEXTUAL_ONLY"), max_length=12
                    ),
                ),
                ("reason", models.CharField(max_length=24, null=True)),
                ("difference", models.CharField(default="UNKNOWN", max_length=16)),
                ("hunk_keys", array(models.BigIntegerField())),
                ("policy_generation", models.PositiveIntegerField()),
                ("extractor_revision", models.PositiveSmallIntegerField()),
                ("content_change", link("contentchange")),
                ("scope", scope()),
            ],
            options={
                "abstract": False,
                "indexes": [GinIndex(fields=["hunk_keys"], name="code_facts_hunk_keys")],
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "id"), name="codefacts_scope_id"),
                    models.UniqueConstraint(
                        fields=("scope", "content_change"), name="code_facts_content"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FactsProgress",
            fields=[
                ("id", number()),
                (
                    "phase",
                    models.CharField(
                        choices=[("symbols", "Symbols"), ("reversals", "Reversals")], max_length=12
                    ),
                ),
                ("revision", models.PositiveIntegerField()),
                ("policy_generation", models.PositiveIntegerField()),
                ("after_id", models.BigIntegerField(default=0)),
                ("scope", scope()),
            ],
            options={
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "id"), name="factsprogress_scope_id"),
                    models.UniqueConstraint(fields=("scope", "phase"), name="facts_progress_phase"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PathOrigin",
            fields=[
                ("id", number()),
                (
                    "kind",
                    models.CharField(
                        choices=[("RENAME", "Rename"), ("COPY", "Copy")], max_length=6
                    ),
                ),
                ("score", models.PositiveSmallIntegerField()),
                ("is_listed", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("CERTAIN", "Certain"),
                            ("OPEN", "Open"),
                            ("ACCEPTED", "Accepted"),
                            ("REFUSED", "Refused"),
                        ],
                        max_length=8,
                    ),
                ),
                ("settled_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("file_change", link("filechange")),
                ("scope", scope()),
                (
                    "settled_by",
                    models.ForeignKey(
                        null=True, on_delete=models.PROTECT, related_name="+", to="codememory.actor"
                    ),
                ),
                ("source", link("path")),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "OPEN")),
                        fields=["scope", "id"],
                        name="path_origin_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "id"), name="pathorigin_scope_id"),
                    models.UniqueConstraint(
                        fields=("scope", "file_change", "source"), name="path_origin_source"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SymbolMove",
            fields=[
                ("id", number()),
                ("confidence", models.PositiveSmallIntegerField()),
                ("added", link("symbolchange")),
                ("commit", link("gitcommit")),
                ("removed", link("symbolchange")),
                ("scope", scope()),
            ],
            options={
                "abstract": False,
                "indexes": [models.Index(fields=["scope", "added"], name="symbol_move_added")],
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "id"), name="symbolmove_scope_id"),
                    models.UniqueConstraint(
                        fields=("scope", "removed", "added", "commit"), name="symbol_move_pair"
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="symbolname",
            index=models.Index(fields=["scope", "leaf"], name="symbol_name_leaf"),
        ),
        migrations.AddConstraint(
            model_name="symbolname",
            constraint=models.UniqueConstraint(fields=("scope", "id"), name="symbolname_scope_id"),
        ),
        migrations.AddConstraint(
            model_name="symbolname",
            constraint=models.UniqueConstraint(
                fields=("scope", "digest"), name="symbol_name_digest"
            ),
        ),
        migrations.AddIndex(
            model_name="symbolchange",
            index=models.Index(fields=["scope", "name"], name="symbol_change_name"),
        ),
        migrations.AddIndex(
            model_name="symbolchange",
            index=models.Index(
                condition=models.Q(("old_name__isnull", False)),
                fields=["scope", "old_name"],
                name="symbol_change_old_name",
            ),
        ),
        migrations.AddConstraint(
            model_name="symbolchange",
            constraint=models.UniqueConstraint(
                fields=("scope", "id"), name="symbolchange_scope_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="symbolchange",
            constraint=models.UniqueConstraint(
                fields=("scope", "content_change", "position"), name="symbol_change_position"
            ),
        ),
        migrations.AddIndex(
            model_name="reversal",
            index=models.Index(fields=["scope", "earlier"], name="reversal_earlier"),
        ),
        migrations.AddConstraint(
            model_name="reversal",
            constraint=models.UniqueConstraint(fields=("scope", "id"), name="reversal_scope_id"),
        ),
        migrations.AddConstraint(
            model_name="reversal",
            constraint=models.UniqueConstraint(
                fields=("scope", "later", "earlier", "level", "symbol"),
                name="reversal_pair",
                nulls_distinct=False,
            ),
        ),
        *[add_key(*names) for names in LINKS],
    ]
