"""A run that was asked for again after it had begun."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("codememory", "0020_text_terms")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="is_wanted_again",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
