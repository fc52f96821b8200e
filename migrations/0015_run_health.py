"""Indexes by which every page says how runs ended."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("codememory", "0014_traits_paths")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["scope"],
                condition=models.Q(state__in=["FAILED", "POISONED"]),
                name="run_ended_badly",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["scope", "worktree", "source", "-id"], name="run_newest"),
        ),
    ]
