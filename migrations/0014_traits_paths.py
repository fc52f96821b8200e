"""How many candidates are said in a document, without looking at all of them."""

import django.contrib.postgres.indexes
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("codememory", "0013_review_queue")]
    operations = [
        migrations.AddIndex(
            model_name="candidatetraits",
            index=django.contrib.postgres.indexes.GinIndex(fields=["paths"], name="traits_paths"),
        ),
    ]
