"""The queue's filters, all of them in its address, and the selection beside them."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User

from codememory.models import Candidate, Project
from review import queue_set
from review.queue_pages import select_up_to
from tests.builders import make_candidate, make_memory, signed_in

QUEUE = "/projects/payments-api/review/"


def page(user: User, query: str = "") -> str:
    return signed_in(user).get(QUEUE + query).content.decode()


def listed(text: str) -> set[str]:
    """The statements of the rows."""
    return set(re.findall(r'<a class="claim"[^>]*>([^<]+)</a>', text))


@pytest.fixture
def several(project: Project) -> dict[str, Candidate]:
    return {
        "adr": make_candidate(project, "One.", path=b"docs/adr/1.md"),
        "guide": make_candidate(project, "Two.", path=b"docs/guide.md", flags=["INSTRUCTION_LIKE"]),
        "agents": make_candidate(
            project, "Three.", path=b"AGENTS.md", flags=["UNTRUSTED_INSTRUCTIONS"]
        ),
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?path=docs/adr/1.md", {"One."}),
        ("?path=docs", {"One.", "Two."}),
        ("?path=docs/", {"One.", "Two."}),
        ("?path=doc", set()),
        ("?path=docs%2Fguide.md&flag=INSTRUCTION_LIKE", {"Two."}),
        ("?flag=UNTRUSTED_INSTRUCTIONS", {"Three."}),
        ("?q=two", {"Two."}),
        ("?state=deferred", set()),
    ],
)
def test_a_filter_lists_what_passes_it(
    alice: User, several: dict[str, Candidate], query: str, expected: set[str]
) -> None:
    assert listed(page(alice, query)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("?path=docs", {"One.", "Two."}), ("?q=two&path=docs", {"Two."}), ("?q=two&path=no", set())],
)
def test_too_many_to_be_named_are_asked_for_in_each_statement(
    alice: User,
    several: dict[str, Candidate],
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    expected: set[str],
) -> None:
    monkeypatch.setattr(queue_set, "FEW", 0)
    monkeypatch.setattr(queue_set, "MANY", 0)
    assert listed(page(alice, query)) == expected


def test_conflicts_follow_what_is_decided(alice: User, project: Project) -> None:
    rule = make_candidate(project, "Tests are fast.", subject="tests")
    make_candidate(project, "Tests are slow.", subject="tests", path=b"b.md")
    assert listed(page(alice, "?conflict=yes")) == set()
    make_memory(rule, alice)
    assert listed(page(alice, "?conflict=yes")) == {"Tests are slow."}


def test_documents_are_named_with_counts(alice: User, several: dict[str, Candidate]) -> None:
    text = page(alice)
    for path in ("docs%2Fadr%2F1.md", "docs%2Fguide.md", "AGENTS.md"):
        assert f'href="?path={path}"' in text


def test_a_path_of_any_bytes_is_found_by_the_text_it_is_shown_as(
    alice: User, project: Project
) -> None:
    make_candidate(project, "Odd.", path=b"docs/\xff\n.md")
    (address,) = re.findall(r'href="(\?path=docs[^"]+)"', page(alice))
    assert listed(page(alice, address)) == {"Odd."}


def test_the_conflict_filter_lists_what_disagrees_with_a_rule(
    alice: User, project: Project
) -> None:
    make_memory(make_candidate(project, "Tests are fast.", subject="tests"), alice)
    make_candidate(project, "Tests are slow.", subject="tests", path=b"b.md")
    make_candidate(project, "Something else.", path=b"c.md")
    text = page(alice, "?conflict=yes")
    assert listed(text) == {"Tests are slow."}
    assert re.search(r'conflict <span class="count">1</span>', text)


def test_a_promoted_candidate_does_not_conflict_with_its_own_memory(
    alice: User, project: Project
) -> None:
    make_memory(make_candidate(project, "Tests are fast.", subject="tests"), alice)
    assert listed(page(alice, "?state=any&conflict=yes")) == set()


def test_filters_are_kept_by_search_and_selection(
    alice: User, several: dict[str, Candidate]
) -> None:
    text = page(alice, "?path=docs&q=t")
    assert text.count('<input type="hidden" name="path" value="docs">') == 2
    assert '<input type="hidden" name="q" value="t">' in text


def test_the_selection_stands_in_the_address(alice: User, several: dict[str, Candidate]) -> None:
    number = several["guide"].pk
    text = page(alice, f"?c={number}")
    assert re.findall(r'value="(\d+)" checked', text) == [str(number)]


def test_a_reader_has_nothing_to_select(rita: User, several: dict[str, Candidate]) -> None:
    assert 'type="checkbox"' not in page(rita)


@pytest.mark.parametrize(
    "query", ["flag=LOUD", "conflict=no", "c=x", "upto=-1", "path=%00", "c=" + "&c=".join("1" * 51)]
)
def test_what_is_no_filter_is_refused(alice: User, query: str) -> None:
    assert signed_in(alice).get(f"{QUEUE}?{query}").status_code == 400


@pytest.mark.parametrize(
    ("selected", "upto", "expected"),
    [
        (set(), None, set()),
        (set(), 3, {3}),
        ({1}, 3, {1, 2, 3}),
        ({1, 2}, 4, {1, 2, 3, 4}),
        ({5}, 3, {3, 5}),
        ({9}, 2, {2}),
    ],
)
def test_selecting_up_to_a_row_starts_after_the_last_selected_one(
    selected: set[int], upto: int | None, expected: set[int]
) -> None:
    assert select_up_to([1, 2, 3, 4, 5], selected, upto) == expected


def test_a_type_and_what_it_was_said_as_are_told_apart(
    alice: User, several: dict[str, Candidate]
) -> None:
    text = page(alice, "?modality=REQUIREMENT")
    assert "said as requirement" in text
