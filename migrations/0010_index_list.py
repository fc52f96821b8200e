"""Lets new terms wait in the index's own list until there are enough of them."""

import django.contrib.postgres.indexes
from django.db import migrations

INDEX = django.contrib.postgres.indexes.GinIndex(
    fields=["terms"], name="search_entry_terms", fastupdate=True, gin_pending_list_limit=4096
)


class Migration(migrations.Migration):
    dependencies = [("codememory", "0009_places")]

    operations = [
        # In place: to drop and build it anew would take long where there are many entries.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER INDEX search_entry_terms"
                    " SET (fastupdate = on, gin_pending_list_limit = 4096)",
                    "ALTER INDEX search_entry_terms RESET (gin_pending_list_limit);"
                    "ALTER INDEX search_entry_terms SET (fastupdate = off)",
                )
            ],
            state_operations=[
                migrations.RemoveIndex("searchentry", "search_entry_terms"),
                migrations.AddIndex("searchentry", INDEX),
            ],
        )
    ]
