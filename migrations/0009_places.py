"""What a statement is said as in each place where it stands."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("codememory", "0008_no_truncate")]
    operations = [
        migrations.AddField(
            model_name="evidencelink",
            name="type",
            field=models.CharField(default="", max_length=16),
        ),
        migrations.AddField(
            model_name="evidencelink",
            name="modality",
            field=models.CharField(default="", max_length=16),
        ),
        migrations.AddField(
            model_name="evidencelink",
            name="rule",
            field=models.CharField(default="", max_length=60),
        ),
        migrations.AddField(
            model_name="evidencelink",
            name="flags",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=32), default=list, size=None
            ),
        ),
    ]
