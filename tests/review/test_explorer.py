"""Histories, changes, documents, knowledge and questions in the console: what each page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from codememory.models import Candidate, FileChange, Project, Role, SourceRevision
from codememory.policies import newest_policy, set_policy, values_of
from codememory.recall import engineering_context, search
from review.explorer import change_code
from tests.builders import make_memory, make_person, make_project, signed_in
from tests.collected import collect
from tests.repos import RepoBuilder
from tests.review.explored import (
    FIRST_RULE,
    SECOND_RULE,
    SLUG,
    changes_of,
    make_shop,
    page,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    return make_shop(RepoBuilder(tmp_path / "shop"))


@pytest.fixture
def ann(shop: Project) -> User:
    return make_person(shop, Role.REVIEWER, "ann")


def changed_content(project: Project) -> int:
    """The number of the content change that made the till."""
    made = FileChange.objects.filter(scope=project.scope, new_path__raw=b"till.py").earliest("pk")
    assert made.content_change_id
    return made.content_change_id


def exclude(project: Project, pattern: str) -> None:
    row = newest_policy(project)
    values = {**values_of(row), "exclude": [pattern]}
    set_policy(project, values, opened=row.generation, actor=None, by="test")


def test_a_symbols_history_names_what_was_reverted_and_by_which_change(
    ann: User, shop: Project
) -> None:
    text = page(ann, "history/?subject=Till.open")
    _, changed, restored = changes_of(shop, "till.py")
    assert f'Reverted by <a class="mono" href="{SLUG}/changes/L{restored.pk}/#' in text
    assert f'Reverts <a class="mono" href="{SLUG}/changes/L{changed.pk}/#' in text


def test_events_are_the_newest_first_and_each_leads_to_its_change(ann: User, shop: Project) -> None:
    text = page(ann, "history/?subject=till.py")
    places = [text.index(f"/changes/L{one.pk}/") for one in changes_of(shop, "till.py")]
    assert places[2] < places[1] < places[0]


def test_a_name_of_several_symbols_offers_them(ann: User, shop: Project) -> None:
    text = page(ann, "history/?subject=close")
    assert "Till.close" in text
    assert "Nothing stored has" in page(ann, "history/?subject=nowhere.py")


def test_the_projects_timeline_calls_changes_by_symbols_and_never_by_messages(
    ann: User, shop: Project
) -> None:
    text = page(ann, "history/")
    assert '<span class="mono">Till.open</span> changed' in text
    assert "nobody reads this" not in text


def test_a_history_says_what_it_does_not_know(ann: User, shop: Project) -> None:
    text = page(ann, "history/?subject=twin.py")
    assert "What this history does not know" in text
    assert "ORIGIN_OPEN" in text


def test_a_change_shows_old_and_new_code_with_the_changed_words(ann: User, shop: Project) -> None:
    changed = changes_of(shop, "till.py")[1]
    text = page(ann, f"changes/L{changed.pk}/")
    assert "switch_on(<ins>self.colour</ins>)" in text
    assert text.count('<td class="line-number">3</td>') == 2  # what is around it, on both sides


def test_a_change_is_shown_unified_too(ann: User, shop: Project) -> None:
    changed = changes_of(shop, "till.py")[1]
    text = page(ann, f"changes/L{changed.pk}/?view=unified")
    assert '<tr class="gone"><td class="line-number">4</td><td class="line-number"></td>' in text
    assert '<tr class="come"><td class="line-number"></td><td class="line-number">4</td>' in text


def test_a_change_says_its_verdict_its_commit_and_what_took_it_back(
    ann: User, shop: Project
) -> None:
    _, changed, restored = changes_of(shop, "till.py")
    text = page(ann, f"changes/L{changed.pk}/")
    assert "REVERTED" in text
    assert f'<a class="mono" href="{SLUG}/changes/L{restored.pk}/">L{restored.pk}</a>' in text
    assert '<q dir="auto">nobody reads this</q> <span class="muted">not used</span>' in text


def test_hostile_code_stays_text_and_what_is_not_seen_is_named(ann: User, shop: Project) -> None:
    text = page(ann, f"changes/L{changes_of(shop, 'greet.py')[0].pk}/")
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert "U+202E" in text
    assert "U+001B" in text


def test_evidence_is_shown_with_every_field_that_an_agent_gets(ann: User, shop: Project) -> None:
    changed = changes_of(shop, "till.py")[1]
    found = search(shop, "switch_on colour", kinds=["change"])["results"][0]
    text = page(ann, f"evidence/{found['evidence_ids'][0]}/")
    assert f"/changes/L{changed.pk}/" in text
    for label in ("SHA-256", "Compared with", "Availability"):
        assert f"<dt>{label}</dt>" in text


def test_a_document_shows_its_segments_revisions_and_what_happened_to_sections(
    ann: User, shop: Project
) -> None:
    new = SourceRevision.objects.filter(kind="documents").earliest("pk")
    text = page(ann, f"documents/D{new.pk}/")
    assert SECOND_RULE in text
    assert "SEGMENT_MATCH" in text
    old = SourceRevision.objects.filter(kind="documents").exclude(pk=new.pk).get()
    assert f"/documents/D{old.pk}/" in text
    assert "changed" in text[text.index("What happened to its sections") :]


def test_knowledge_is_found_by_the_search_that_agents_have(ann: User, shop: Project) -> None:
    make_memory(Candidate.objects.get(statement=SECOND_RULE), ann)
    text = page(ann, "knowledge/?q=refund+booked")
    for result in search(shop, "refund booked", limit=15)["results"]:
        assert f'<span class="mono">{result["id"]}</span>' in text
    assert "What this search does not know" in text
    assert FIRST_RULE not in page(ann, "knowledge/?q=refund+booked&kind=memory")


def test_knowledge_without_words_lists_the_memories_that_hold(ann: User, shop: Project) -> None:
    assert "Nobody promoted anything yet" in page(ann, "knowledge/")
    make_memory(Candidate.objects.get(statement=SECOND_RULE), ann)
    assert SECOND_RULE in page(ann, "knowledge/")


def test_asking_gives_the_answer_of_the_api_with_all_its_sections(ann: User, shop: Project) -> None:
    make_memory(Candidate.objects.get(statement=SECOND_RULE), ann)
    task = "when is a refund booked"
    text = page(ann, f"ask/?task={task}")
    answer = engineering_context(shop, task)
    for section in answer.keys() - {"next", "omitted", "coverage"}:
        assert f">{section}</code>" in text
    assert SECOND_RULE in text[: text.index("current_code_links")]


def test_the_heading_of_what_an_answer_does_not_know_is_never_hidden(
    ann: User, shop: Project
) -> None:
    assert "What this answer does not know" in page(ann, "ask/?task=zzz")


def test_the_answer_is_given_as_json_too(ann: User, shop: Project) -> None:
    answer = signed_in(ann).get(f"{SLUG}/ask/?task=booked+refund&format=json").json()
    assert answer == engineering_context(shop, "booked refund")


def test_what_the_policy_excludes_now_is_shown_on_no_page(ann: User, shop: Project) -> None:
    changed = changes_of(shop, "till.py")[1]
    exclude(shop, "till.py")
    assert "switch_on" not in page(ann, f"changes/L{changed.pk}/")
    assert "Till" not in page(ann, "history/?subject=till.py")
    assert "Nothing stored has" in page(ann, "history/?subject=Till.open")


def test_a_document_that_is_excluded_now_keeps_its_text_to_itself(ann: User, shop: Project) -> None:
    revision = SourceRevision.objects.filter(kind="documents").earliest("pk")
    exclude(shop, "docs/*")
    text = page(ann, f"documents/D{revision.pk}/")
    assert SECOND_RULE not in text
    assert "The policy keeps this path from being shown" in text


@pytest.mark.parametrize("view", ["side-by-side", "unified"])
def test_code_of_a_change_and_of_its_evidence_is_in_colours(
    ann: User, shop: Project, view: str
) -> None:
    changed = changes_of(shop, "till.py")[0]
    text = page(ann, f"changes/L{changed.pk}/?view={view}")
    assert '<span class="kw">class</span> <span class="fn">Till</span>' in text
    assert '<span class="kw">class</span>' in page(ann, f"evidence/A{changed_content(shop)}.1/")


@pytest.mark.parametrize("view", ["side-by-side", "unified"])
def test_what_was_cut_out_of_code_is_boxed(tmp_path: Path, view: str) -> None:
    repo = RepoBuilder(tmp_path / "vault")
    repo.write("keys.py", f"aws = '{'AKIA' + 'QYLPMN5HFIQR7XYA'}'\nother = 1\n")
    repo.write("fake.py", "said = '[REDACTED:password:9c1f02ab]'\n")
    repo.commit()
    project = collect(repo)
    (made,) = changes_of(project, "keys.py")
    ann = make_person(project, Role.REVIEWER, "ann")
    text = signed_in(ann).get(f"/projects/vault/changes/L{made.pk}/?view={view}").content.decode()
    assert re.search(r'<span class="redacted">REDACTED:[a-z0-9_-]+:[0-9a-f]{8}</span>', text)
    assert "QYLPMN5HFIQR7XYA" not in text
    assert '<span class="redacted">REDACTED:password:9c1f02ab' not in text  # it only imitates one


def test_code_beyond_the_bound_of_a_page_stays_plain(
    ann: User, shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_code, "COLOURED", 10)
    changed = changes_of(shop, "till.py")[0]
    text = page(ann, f"changes/L{changed.pk}/")
    assert "class Till" in text
    assert 'class="kw"' not in text


@pytest.mark.parametrize(
    "address",
    [
        "history/?after=x",
        "history/?subject=a%00b",
        "changes/L1/?view=upside-down",
        "knowledge/?kind=rumour",
        "knowledge/?q=refund&cursor=nonsense",
        "ask/?task=refund&cursor=nonsense",
        "ask/?task=refund&budget=1",
        "renames/?state=lost",
    ],
)
def test_what_is_no_address_of_the_console_is_refused(address: str) -> None:
    page(make_person(make_project("shop")), address, status=400)
