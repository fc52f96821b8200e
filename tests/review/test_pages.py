"""What the pages of a project show, and to whom."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client

from codememory.models import Candidate, Membership, Project
from review import queries, queue
from tests.builders import make_candidate, make_person, make_project, signed_in

QUEUE = "/projects/payments-api/review/"


def page(user: User, address: str) -> str:
    return signed_in(user).get(address).content.decode()


def test_the_queue_lists_what_is_open_with_source_and_verdict(
    alice: User, candidate: Candidate
) -> None:
    text = page(alice, QUEUE)
    assert candidate.statement in text
    assert "docs/adr/0017-refund-idempotency.md" in text
    assert "SEGMENT_MATCH" in text


def test_a_candidate_shows_its_evidence_with_the_cited_words_marked(
    alice: User, candidate: Candidate
) -> None:
    text = page(alice, f"/projects/payments-api/candidates/{candidate.pk}/")
    assert f"<mark>{candidate.statement}</mark>" in text
    assert '<td class="line-number">4</td>' in text


def test_a_candidate_shows_its_whole_source_reference(alice: User, candidate: Candidate) -> None:
    text = page(alice, f"/projects/payments-api/candidates/{candidate.pk}/")
    for label in ("Captured", "HEAD at capture", "Bytes", "SHA-256", "Redacted", "Availability"):
        assert f"<dt>{label}</dt>" in text
    assert "a document segment is not a side of a change" in text


@pytest.mark.parametrize("place", ["candidates/{}/", "review/", "evidence/S{}/"])
def test_when_something_was_captured_reads_as_every_time_of_the_console(
    alice: User, candidate: Candidate, place: str
) -> None:
    number = candidate.evidence_links.get().segment_id if "S" in place else candidate.pk
    text = page(alice, f"/projects/payments-api/{place.format(number)}")
    found = re.search(r'<dt>Captured</dt>\s*<dd><time datetime="([^"]+)"[^>]*>([^<]+)', text)
    assert found
    exact, said = found.groups()
    assert datetime.fromisoformat(exact).strftime("%b %Y %H:%M UTC") in said


def test_invisible_characters_are_shown_and_counted(alice: User, project: Project) -> None:
    candidate = make_candidate(project, "Only the allow\u202e-list may\u2066 pay.")
    text = page(alice, f"/projects/payments-api/candidates/{candidate.pk}/")
    assert "\u202e" not in text
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in text
    assert "2 invisible characters in this text" in text


def test_markup_in_evidence_stays_text(alice: User, project: Project) -> None:
    candidate = make_candidate(project, "Never <script>alert(1)</script> in <img src=x> pages.")
    text = page(alice, f"/projects/payments-api/candidates/{candidate.pk}/")
    assert "<script>alert" not in text
    assert "<img" not in text


def test_filters_come_from_the_address_with_counts(alice: User, project: Project) -> None:
    make_candidate(project, "One is a decision.", path=b"a.md")
    make_candidate(project, "Two is a convention.", type="convention", path=b"b.md")
    text = page(alice, f"{QUEUE}?type=convention")
    assert "Two is a convention." in text
    assert "One is a decision." not in text
    assert re.search(r'href="\?type=decision">.*decision <span class="count">1</span>', text)


@pytest.mark.parametrize("query", ["state=lost", "type=rule", "after=x", "at=-1", "q=%00"])
def test_an_unknown_filter_is_refused(alice: User, query: str) -> None:
    assert signed_in(alice).get(f"{QUEUE}?{query}").status_code == 400


@pytest.mark.parametrize(
    ("words", "is_found"),
    [
        ("3%25", True),
        ("amount+fee", True),
        ("%25", False),
        ("amounts", False),
        ("%26|!('\"", False),
    ],
)
def test_search_finds_words_by_how_they_begin(
    alice: User, project: Project, words: str, is_found: bool
) -> None:
    make_candidate(project, "Fees are 3% of the amount.", path=b"a.md")
    text = page(alice, f"{QUEUE}?q={words}")
    assert ("Fees are 3% of the amount." in text) == is_found
    assert ("Nothing matches" in text) != is_found


def test_pages_stay_as_they_are_while_items_are_decided(
    alice: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "PAGE_SIZE", 2)
    names = ("One", "Two", "Three", "Four", "Five")
    made = [make_candidate(project, f"Rule {n}.", path=n.encode()) for n in names]
    first = page(alice, QUEUE)
    (following,) = re.findall(r'href="(\?[^"]*after=[^"]+)" rel="next"', first)
    following = following.replace("&amp;", "&")
    Candidate.objects.filter(pk=made[0].pk).update(state="REJECTED")
    second = page(alice, QUEUE + following)
    assert all(made[n].statement in second for n in (2, 3))
    assert made[4].statement not in second


def test_what_is_open_comes_first_among_all(alice: User, project: Project) -> None:
    decided = make_candidate(project, "Decided long ago.", path=b"a.md")
    Candidate.objects.filter(pk=decided.pk).update(state="REJECTED")
    make_candidate(project, "Still open today.", path=b"b.md")
    text = page(alice, f"{QUEUE}?state=any")
    assert text.index("Still open today.") < text.index("Decided long ago.")


def test_a_decided_candidate_keeps_its_place_between_its_neighbours(
    alice: User, project: Project
) -> None:
    made = [make_candidate(project, f"Rule number {n}.", path=b"%d.md" % n) for n in range(3)]
    Candidate.objects.filter(pk=made[1].pk).update(state="REJECTED")
    text = page(alice, f"/projects/payments-api/candidates/{made[1].pk}/")
    assert f'candidates/{made[0].pk}/" aria-keyshortcuts="k"' in text
    assert f'candidates/{made[2].pk}/" aria-keyshortcuts="j"' in text


def test_a_reader_of_nothing_learns_nothing(bob: User, candidate: Candidate) -> None:
    client = signed_in(bob)
    foreign, absent = client.get(QUEUE), client.get("/projects/nowhere/review/")
    assert (foreign.status_code, foreign.content) == (404, absent.content)
    assert "payments-api" not in client.get("/projects/").content.decode()


def test_home_goes_straight_to_the_only_project(alice: User) -> None:
    assert signed_in(alice).get("/").headers["Location"] == QUEUE


def test_home_lists_several_projects_with_what_is_open(alice: User, candidate: Candidate) -> None:
    Membership.objects.create(scope=make_project("second").scope, user=alice, role="READER")
    text = signed_in(alice).get("/", follow=True).content.decode()
    assert "1 open candidate" in text
    assert "0 open candidates" in text


def test_an_administrator_sees_every_project(project: Project) -> None:
    make_project("second")
    root = make_person(name="root")
    root.is_superuser = True
    root.save(update_fields=["is_superuser"])
    assert "second" in page(root, "/projects/")


def test_a_project_without_candidates_says_so(alice: User) -> None:
    assert "Nothing has been proposed yet" in page(alice, QUEUE)


def test_pages_of_a_project_are_not_kept_by_anybody(alice: User, candidate: Candidate) -> None:
    for address in (QUEUE, f"/projects/payments-api/candidates/{candidate.pk}/", "/projects/"):
        assert "no-store" in signed_in(alice).get(address).headers["Cache-Control"]


def test_keys_have_a_page_and_can_be_switched_off(alice: User) -> None:
    client = signed_in(alice)
    assert "keys.js" in client.get("/keys/").content.decode()
    client.post("/accounts/keys/", {"keys": "off"})
    assert "keys.js" not in client.get("/keys/").content.decode()


def test_a_stranger_is_asked_to_sign_in() -> None:
    assert Client().get(QUEUE).headers["Location"] == f"/accounts/login/?next={QUEUE}"


def test_no_page_claims_a_verdict_on_a_checkout_that_is_not_there(bob: User) -> None:
    candidate = make_candidate(Project.objects.get(slug="other"), "Nobody can look.")
    for address in ("/projects/other/review/", f"/projects/other/candidates/{candidate.pk}/"):
        text = page(bob, address)
        assert 'class="verdict unknown"' in text
        assert 'class="verdict historical"' not in text


def test_a_candidate_said_in_many_places_shows_the_first_ones_and_counts_all(
    alice: User, project: Project, candidate: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_PIECES", 2)
    for number in range(3):
        other = make_candidate(project, f"Place {number}.", path=b"%d.md" % number)
        other.evidence_links.update(candidate=candidate)
    text = page(alice, f"/projects/payments-api/candidates/{candidate.pk}/")
    assert "4 pieces, the first 2 shown" in text
    assert text.count('class="card excerpt"') == 2
