"""An index of the terms of texts alone."""

import django.contrib.postgres.indexes
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("codememory", "0019_segment_text")]

    operations = [
        migrations.AddIndex(
            model_name="searchentry",
            index=django.contrib.postgres.indexes.GinIndex(
                condition=models.Q(("kind", "change"), _negated=True),
                fastupdate=True,
                fields=["terms"],
                gin_pending_list_limit=4096,
                name="search_entry_text_terms",
            ),
        ),
    ]
