"""Indexes by which a candidate's page finds what became of it and of its memories."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("codememory", "0016_path_head"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(fields=["scope", "candidate"], name="memory_candidate"),
        ),
        migrations.AddIndex(
            model_name="reviewdecision",
            index=models.Index(
                condition=models.Q(("supersedes__isnull", False)),
                fields=["scope", "supersedes"],
                name="decision_supersedes",
            ),
        ),
    ]
