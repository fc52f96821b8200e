"""What the second stage of ranking reads of the best hits: null in entries from before."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("codememory", "0010_index_list")]
    operations = [
        migrations.AddField(
            model_name="searchentry",
            name="shape",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.SmallIntegerField(), null=True, size=None
            ),
        ),
        migrations.AddField(
            model_name="searchentry",
            name="neighbours",
            field=models.BinaryField(null=True),
        ),
    ]
