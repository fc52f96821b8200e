"""An index of segments by their digest: which documents say the very same."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("codememory", "0018_candidate_subject"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="evidencesegment",
            index=models.Index(fields=["scope", "sha256"], name="segment_text"),
        ),
    ]
