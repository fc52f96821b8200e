"""The review queue: traits of candidates with their triggers, claims, saved filters, indexes."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# Words as they are compared: nothing but letters and digits, stop words too ("not" counts).
WORDS = """
    CREATE FUNCTION codememory_similar_key(statement text) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
        SELECT hashtextextended(string_agg(stem, ' ' ORDER BY stem COLLATE "C"), 0)
        FROM (
            SELECT DISTINCT coalesce((ts_lexize('english_stem', word))[1], word) AS stem
            FROM regexp_split_to_table(
                regexp_replace(lower(statement), '[0-9]+', '0', 'g'), '[^[:alnum:]]+') AS word
            WHERE word NOT IN ('', 'a', 'an', 'the')
        ) AS words
    $$;
    CREATE FUNCTION codememory_claim_words(statement text, subject text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
        SELECT to_tsvector(
            'pg_catalog.simple', regexp_replace(statement || ' ' || subject, '[^[:alnum:]]+', ' ', 'g'))
    $$;
"""
# A number of a row is its only key: a scope of which there are no statistics misleads nobody.
UPSERT = """
    INSERT INTO codememory_candidatetraits (scope_id, candidate_id, similar_key, sources, paths)
    SELECT c.scope_id, c.id, codememory_similar_key(c.statement),
           array_agg(DISTINCT r.kind), array_agg(DISTINCT r.path_id)
    FROM {candidates} c
    JOIN codememory_evidencelink l ON l.scope_id = c.scope_id AND l.candidate_id = c.id
    JOIN codememory_evidencesegment s ON s.id = l.segment_id
    JOIN codememory_sourcerevision r ON r.id = s.revision_id
    GROUP BY c.scope_id, c.id, c.statement
"""
CHANGED = """(
    SELECT DISTINCT ours.scope_id, ours.id, ours.statement FROM codememory_candidate ours
    JOIN changed ON changed.candidate_id = ours.id
)"""
FOLLOW = f"""
    CREATE FUNCTION codememory_follow_traits() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        {UPSERT.format(candidates=CHANGED)}
        ON CONFLICT (scope_id, candidate_id) DO UPDATE
        SET similar_key = excluded.similar_key, sources = excluded.sources, paths = excluded.paths
        WHERE (codememory_candidatetraits.similar_key, codememory_candidatetraits.sources,
               codememory_candidatetraits.paths)
            IS DISTINCT FROM (excluded.similar_key, excluded.sources, excluded.paths);
        IF TG_OP <> 'INSERT' THEN
            DELETE FROM codememory_candidatetraits t USING changed
            WHERE t.scope_id = changed.scope_id AND t.candidate_id = changed.candidate_id
              AND NOT EXISTS (
                  SELECT 1 FROM codememory_evidencelink l
                  WHERE l.scope_id = t.scope_id AND l.candidate_id = t.candidate_id);
        END IF;
        RETURN NULL;
    END $$
"""  # noqa: S608 -- names of our own
RELEASE = """
    CREATE FUNCTION codememory_release_claim() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM codememory_candidateclaim
        WHERE scope_id = NEW.scope_id AND candidate_id = NEW.candidate_id;
        RETURN NULL;
    END $$
"""
TRIGGERS = [
    ("traits_added", "INSERT", "NEW"),
    ("traits_moved_from", "UPDATE", "OLD"),
    ("traits_moved_to", "UPDATE", "NEW"),
    ("traits_removed", "DELETE", "OLD"),
]
INDEXES = [
    # Candidates that say these words.
    """CREATE INDEX candidate_words ON codememory_candidate
       USING gin (codememory_claim_words(statement, subject))""",
    # The queue by how sure a rule is.
    "CREATE INDEX candidate_queue_sure ON codememory_candidate (scope_id, state, confidence, id)",
    # What was decided today, in the last hour, since a page was opened.
    "CREATE INDEX decision_time ON codememory_reviewdecision (scope_id, created_at)",
]


def follow(name, event, side):
    return migrations.RunSQL(
        f"CREATE TRIGGER {name} AFTER {event} ON codememory_evidencelink"
        f" REFERENCING {side} TABLE AS changed"
        " FOR EACH STATEMENT EXECUTE FUNCTION codememory_follow_traits()",
        f"DROP TRIGGER {name} ON codememory_evidencelink",
    )


def index(sql):
    return migrations.RunSQL(sql, f"DROP INDEX {sql.split()[2]}")


def own_key(table):
    # A candidate that its rule takes back goes with what is kept beside it.
    return migrations.RunSQL(
        f"ALTER TABLE codememory_{table} ADD CONSTRAINT {table}_candidate_same_scope"
        " FOREIGN KEY (scope_id, candidate_id) REFERENCES codememory_candidate (scope_id, id)"
        " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE codememory_{table} DROP CONSTRAINT {table}_candidate_same_scope",
    )


def owned(model, **fields):
    scope = models.ForeignKey(
        db_index=False,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
        to="codememory.scope",
    )
    key = models.BigAutoField(
        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
    )
    return migrations.CreateModel(
        name=model,
        fields=[("id", key), *fields.items(), ("scope", scope)],
        options={"abstract": False},
    )


def candidate(related_name):
    return models.ForeignKey(
        db_constraint=False,
        db_index=False,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name=related_name,
        to="codememory.candidate",
    )


def unique(model, name, *fields):
    return migrations.AddConstraint(
        model_name=model,
        constraint=models.UniqueConstraint(fields=("scope", *fields), name=name),
    )


class Migration(migrations.Migration):
    dependencies = [
        ("codememory", "0012_terms_of_promotion"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.RunSQL(
            WORDS,
            "DROP FUNCTION codememory_similar_key(text);"
            "DROP FUNCTION codememory_claim_words(text, text)",
        ),
        owned(
            "CandidateTraits",
            similar_key=models.BigIntegerField(null=True),
            sources=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=16), default=list, size=None
            ),
            paths=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(), default=list, size=None
            ),
            candidate=candidate("traits"),
        ),
        owned(
            "CandidateClaim",
            claimed_at=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
            candidate=candidate("claims"),
            actor=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="claims",
                to="codememory.actor",
            ),
        ),
        owned(
            "SavedFilter",
            name=models.CharField(max_length=60),
            query=models.TextField(),
            user=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="saved_filters",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        unique("candidatetraits", "candidatetraits_scope_id", "id"),
        unique("candidatetraits", "traits_candidate", "candidate"),
        unique("candidateclaim", "candidateclaim_scope_id", "id"),
        unique("candidateclaim", "claim_candidate", "candidate"),
        unique("savedfilter", "savedfilter_scope_id", "id"),
        unique("savedfilter", "saved_filter_name", "user", "name"),
        own_key("candidatetraits"),
        own_key("candidateclaim"),
        migrations.RunSQL(
            # Without statistics it may take hours where many rows are.
            "ANALYZE codememory_candidate, codememory_evidencelink, codememory_evidencesegment;"
            + UPSERT.format(candidates="codememory_candidate")
            + "; SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED",
            "",
        ),
        migrations.AddIndex(
            model_name="candidatetraits",
            index=models.Index(
                condition=models.Q(("similar_key__isnull", False)),
                fields=["scope", "similar_key", "candidate"],
                name="traits_similar",
            ),
        ),
        migrations.RunSQL(FOLLOW, "DROP FUNCTION codememory_follow_traits()"),
        *[follow(*trigger) for trigger in TRIGGERS],
        migrations.RunSQL(RELEASE, "DROP FUNCTION codememory_release_claim()"),
        migrations.RunSQL(
            "CREATE TRIGGER claim_released AFTER INSERT ON codememory_reviewdecision"
            " FOR EACH ROW EXECUTE FUNCTION codememory_release_claim()",
            "DROP TRIGGER claim_released ON codememory_reviewdecision",
        ),
        *[index(sql) for sql in INDEXES],
    ]
