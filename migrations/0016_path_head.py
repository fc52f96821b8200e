"""An index on the first bytes of paths: what lies below a folder."""

from django.db import migrations, models
from django.db.models import F, Func, Value


class Migration(migrations.Migration):
    dependencies = [
        ("codememory", "0015_run_health"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="path",
            index=models.Index(
                F("scope"),
                Func(
                    F("raw"),
                    Value(1),
                    Value(200),
                    function="substr",
                    output_field=models.BinaryField(),
                ),
                name="path_head",
            ),
        ),
    ]
