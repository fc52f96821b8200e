"""Append-only tables are not emptied either, and their triggers hold in replicas as well."""

from django.db import migrations

APPEND_ONLY = ["reviewdecision", "auditevent", "policy"]


def forbid_emptying(table):
    return migrations.RunSQL(
        f"""
        CREATE TRIGGER {table}_not_emptied BEFORE TRUNCATE ON codememory_{table}
            FOR EACH STATEMENT EXECUTE FUNCTION codememory_not_emptied();
        ALTER TABLE codememory_{table} ENABLE ALWAYS TRIGGER {table}_append_only;
        ALTER TABLE codememory_{table} ENABLE ALWAYS TRIGGER {table}_not_emptied;
        """,
        f"""
        ALTER TABLE codememory_{table} ENABLE TRIGGER {table}_append_only;
        DROP TRIGGER {table}_not_emptied ON codememory_{table};
        """,
    )


class Migration(migrations.Migration):
    dependencies = [("codememory", "0007_symbols")]
    operations = [
        migrations.RunSQL(
            # 55000: object_not_in_prerequisite_state. Tests empty whole databases between each
            # other: their sessions say so, as no code of ours does.
            """
            CREATE FUNCTION codememory_not_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF current_setting('codememory.is_test', true) = 'yes' THEN
                    RETURN NULL;
                END IF;
                RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = '55000';
            END $$
            """,
            "DROP FUNCTION codememory_not_emptied()",
        ),
        *[forbid_emptying(table) for table in APPEND_ONLY],
    ]
