"""The knowledge page: narrowed by what a result says of itself, and each rank explained."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from codememory.models import Candidate, Memory, Project, Role
from codememory.recall import search
from review.explorer import finding
from tests.builders import make_memory, make_person
from tests.collected import collect
from tests.repos import RepoBuilder
from tests.review.explored import page

pytestmark = pytest.mark.django_db

RULE = "Every refund must be booked before the customer is told."
OLD = "Every receipt must be printed on paper for the refund desk."
DECIDED = "We decided to keep refund keys for four hundred days."
DOCUMENT = f"# Refunds\n\n## Rules\n\n- {RULE}\n\n## Decision\n\n{DECIDED}\n"
RECEIPTS = "# Receipts\n\n## Rules\n\n- {}\n"


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    """One rule holds, one is no longer said, one decision waits for review."""
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("docs/refunds.md", DOCUMENT)
    repo.write("docs/receipts.md", RECEIPTS.format(OLD))
    repo.write("till.py", "def refund(receipt):\n    return receipt.total\n")
    repo.commit()
    project = collect(repo)
    user = make_person(project, Role.REVIEWER, "ann")
    for said in (RULE, OLD):
        make_memory(Candidate.objects.get(statement=said), user)
    repo.write("docs/receipts.md", RECEIPTS.format("Receipts are mailed."))
    repo.commit()
    return project


@pytest.fixture
def ann(shop: Project) -> User:
    return User.objects.get(username="ann")


def statements(text: str) -> list[str]:
    """The first line of each result."""
    found = re.findall(r'class="result-title"[^>]*>(.*?)</p>', text, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", one)).strip() for one in found]


def test_without_words_what_holds_is_narrowed(ann: User) -> None:
    asked = {
        "": [OLD, RULE],
        "?verdict=CURRENT_SUPPORTED": [RULE],
        "?verdict=HISTORICAL": [OLD],
        "?standing=reviewed&verdict=UNKNOWN": [],
        "?standing=superseded": [],
        "?type=decision": [],
        "?layer=workspace": [OLD, RULE],
        "?layer=team": [],
        "?kind=candidate&type=decision": [DECIDED],
        "?standing=provisional&verdict=CURRENT_SUPPORTED&type=decision": [DECIDED],
    }
    assert {query: statements(page(ann, f"knowledge/{query}")) for query in asked} == asked


def test_a_search_is_narrowed_by_what_its_results_say(ann: User) -> None:
    asked = {
        "standing=reviewed": (RULE, DECIDED),
        "standing=provisional": (DECIDED, RULE),
        "verdict=HISTORICAL": (OLD, RULE),
        "type=decision": (DECIDED, RULE),
        "verdict=CURRENT_SUPPORTED&kind=memory": (RULE, OLD),
    }
    for query, (kept, left_out) in asked.items():
        found = statements(page(ann, f"knowledge/?q=refund&{query}"))
        assert (kept in found, left_out in found) == (True, False), query


def test_documents_and_changes_are_observed_and_have_no_type(ann: User) -> None:
    text = page(ann, "knowledge/?q=refund&standing=observed")
    assert "docs/refunds.md" in text
    assert "reviewed</span>" not in text
    assert statements(page(ann, "knowledge/?q=refund&kind=change&type=decision")) == []


def test_it_says_how_many_were_looked_through_and_goes_on_behind_them(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "STEP", 1)
    monkeypatch.setattr(finding, "MOST_STEPS", 1)
    text = page(ann, "knowledge/?verdict=CURRENT_SUPPORTED")
    assert statements(text) == []
    assert 'data-looked="1"' in text
    (further,) = re.findall(r'href="(\?[^"]*before=\d+)" rel="next"', text)
    assert statements(page(ann, f"knowledge/{html.unescape(further)}")) == [RULE]


def test_the_memories_of_a_type_are_as_many_as_its_link_says(ann: User) -> None:
    text = page(ann, "knowledge/")
    links = re.findall(r'<a class="type [^"]*" href="([^"]+)".*?class="count">(\d+)<', text)
    assert [int(count) for _, count in links] == [
        len(statements(page(ann, f"knowledge/{html.unescape(href)}"))) for href, count in links
    ]
    assert sum(int(count) for _, count in links) == Memory.objects.count() == 2


def test_a_rank_is_explained_by_words_fields_and_weights(ann: User, shop: Project) -> None:
    best = search(shop, "refund booked", explain=True)["results"][0]
    text = page(ann, f"knowledge/?q=refund+booked&why={best['id']}")
    why = text[text.index('class="rank"') : text.index("</details>", text.index('class="rank"'))]
    told = best["why"]
    assert f"ranks at {told['score']}" in why
    for part in told["terms"]:
        assert f"<b>{part['score']}</b>" in why
        assert f"{part['idf']}</td>" in why
        assert all(str(value) in why for value in part["fields"].values())


def test_every_result_with_a_score_offers_its_explanation(ann: User, shop: Project) -> None:
    text = page(ann, "knowledge/?q=refund")
    names = re.findall(r"why=([A-Z]\d+)#", text)
    assert names == [one["id"] for one in search(shop, "refund", limit=15)["results"]]
    for name in names:
        assert f'id="why-{name}"' in page(ann, f"knowledge/?q=refund&why={name}")


def test_an_answers_ranks_are_explained_too(ann: User) -> None:
    text = page(ann, "ask/?task=book+a+refund+for+the+customer")
    (name, *_) = re.findall(r"why=([A-Z]\d+)#", text)
    again = page(ann, f"ask/?task=book+a+refund+for+the+customer&why={name}")
    assert f"Why {name} ranks at" in again


def test_an_unknown_filter_is_refused(ann: User) -> None:
    for wrong in ("standing=told", "verdict=TRUE", "type=rumour", "layer=moon", "why=x"):
        page(ann, f"knowledge/?{wrong}", status=400)
