"""Which candidates speak of a memory's subject, without looking at all of them."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("codememory", "0017_decision_indexes")]
    operations = [
        migrations.RunSQL(
            # By hash: a subject may be longer than a key of a b-tree.
            "CREATE INDEX candidate_subject ON codememory_candidate USING hash (subject)"
            " WHERE subject <> ''",
            "DROP INDEX candidate_subject",
        ),
    ]
