"""The queue at its edges: groups, order, counts, pages as they were, and how many statements."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from codememory.models import (
    Candidate,
    CandidateClaim,
    CandidateTraits,
    EvidenceLink,
    Project,
    SavedFilter,
)
from codememory.people import actor_of
from review import queue, queue_cells
from review.claims import claim
from review.filters import Filters
from review.queue_counts import Counts
from tests.builders import make_candidate, make_memory, make_person, make_project, signed_in

QUEUE = "/projects/payments-api/review/"


def listed(user: User, query: str = "") -> list[str]:
    text = signed_in(user).get(QUEUE + query).content.decode()
    rows = re.findall(r'<a class="claim"[^>]*>(?:<s>)?([^<]+)', text)
    return [row.rstrip(".") for row in rows]


def counts(project: Project, **chosen: str) -> dict[str, dict[str, int]]:
    facets = Counts(project, Filters(**chosen)).facets()  # type: ignore[arg-type]
    return {
        facet.name: {choice.value: choice.count for choice in facet.choices} for facet in facets
    }


def key_of(candidate: Candidate) -> int | None:
    return CandidateTraits.objects.get(candidate=candidate).similar_key


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Retry at most 3 times.", "Retry at most 5 times!", True),
        ("Retry, at most, 3 times.", "At most 3 times retry", True),
        ("A refund keeps its key.", "The refunds keep its keys.", True),
        ("Retry 3 times.", "Do not retry 3 times.", False),
        ("Refunds must be reviewed.", "Payouts must be reviewed.", False),
    ],
)
def test_near_duplicates_say_the_same_words(
    project: Project, one: str, other: str, is_same: bool
) -> None:
    first = make_candidate(project, one, path=b"a.md")
    second = make_candidate(project, other, path=b"b.md")
    assert (key_of(first) == key_of(second)) == is_same


def test_signs_alone_are_near_nothing(project: Project) -> None:
    assert key_of(make_candidate(project, "…!")) is None


def test_traits_follow_the_evidence(project: Project, candidate: Candidate) -> None:
    other = make_candidate(project, "Elsewhere.", path=b"other.md")
    moved = EvidenceLink.objects.filter(candidate=other)
    place = moved.get().segment.revision.path_id
    moved.update(candidate=candidate)
    assert place in CandidateTraits.objects.get(candidate=candidate).paths
    assert not CandidateTraits.objects.filter(candidate=other).exists()
    other.delete()
    EvidenceLink.objects.filter(candidate=candidate, segment__revision__path_id=place).delete()
    assert place not in CandidateTraits.objects.get(candidate=candidate).paths


def test_a_group_is_the_row_of_its_first_and_counts_the_rest(alice: User, project: Project) -> None:
    for number in (3, 4, 5):
        make_candidate(project, f"Retry {number} times.", path=b"%d.md" % number)
    assert listed(alice) == ["Retry 3 times"]
    assert listed(alice, "?each=yes") == [f"Retry {number} times" for number in (3, 4, 5)]
    first = Candidate.objects.order_by("id")[0]
    Candidate.objects.filter(pk=first.pk).update(state="REJECTED")
    assert listed(alice) == ["Retry 4 times"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("", ["First", "Second", "Third"]),
        ("new", ["Third", "Second", "First"]),
        ("sure", ["Second", "Third", "First"]),
        ("unsure", ["First", "Third", "Second"]),
        ("conflict", ["Third", "First", "Second"]),
    ],
)
@pytest.mark.parametrize("size", [1, 30])
def test_pages_follow_each_other_in_every_order(
    alice: User,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    sort: str,
    expected: list[str],
    size: int,
) -> None:
    monkeypatch.setattr(queue, "PAGE_SIZE", size)
    make_memory(make_candidate(project, "Rule.", subject="keys", path=b"r.md"), alice)
    for name, sure in (("First", 0.5), ("Second", 0.9), ("Third", 0.7)):
        subject = "keys" if name == "Third" else ""
        made = make_candidate(project, f"{name}.", subject=subject, path=name.encode())
        Candidate.objects.filter(pk=made.pk).update(confidence=sure)
    seen: list[str] = []
    filters = Filters(sort=sort)
    for _ in range(5):
        page = queue.page_of(project, filters)
        seen += [row.candidate.statement.rstrip(".") for row in page.rows]
        if page.next_query is None:
            break
        after = re.search(r"after=([^&]+)", page.next_query)
        filters = Filters(sort=sort, after=after[1] if after else "")
    assert seen == expected


def test_what_arrives_after_a_page_was_opened_is_not_on_it(alice: User, project: Project) -> None:
    old = make_candidate(project, "Old.", path=b"a.md")
    Candidate.objects.filter(pk=old.pk).update(created_at=Now() - timedelta(hours=2))
    make_candidate(project, "New.", path=b"b.md")
    opened = int(old.evidence_links.get().segment.created_at.timestamp() * 1000) - 3_600_000
    assert listed(alice, f"?asof={opened}") == ["Old"]
    assert listed(alice) == ["Old", "New"]


def test_counts_are_of_what_a_choice_would_show(alice: User, project: Project) -> None:
    make_candidate(project, "One.", type="pattern", path=b"a.md", flags=["INSTRUCTION_LIKE"])
    make_candidate(project, "Two.", type="pattern", path=b"b.md")
    claimed = make_candidate(project, "Three.", path=b"b.md")
    assert claim(claimed, actor=actor_of(alice)) is None
    found = counts(project, type="pattern")
    assert found["type"] == {"decision": 1, "pattern": 2}
    assert found["flag"] == {"INSTRUCTION_LIKE": 1}
    assert found["state"]["any"] == 2
    assert counts(project)["claimed"] == {"others": 1, "nobody": 2}
    assert counts(project, claimed="others")["type"] == {"decision": 1}


def test_counts_that_are_kept_are_set_right_after_decisions(
    alice: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_cells, "FEW", 0)
    made = [make_candidate(project, f"Rule {n}.", path=n.encode()) for n in ("one", "two")]
    before = counts(project)
    make_memory(made[0], alice)
    make_candidate(project, "Rule three.", path=b"two")
    assert (before["state"]["pending"], before["state"]["promoted"]) == (2, 0)
    assert before["path"] == {"one": 1, "two": 1}
    after = counts(project)
    assert (after["state"]["pending"], after["state"]["promoted"], after["state"]["any"]) == (
        2,
        1,
        3,
    )
    assert after["path"] == {"two": 2}
    assert counts(project, path="two")["path"] == {"two": 2}


def test_a_claim_expires(alice: User, project: Project, candidate: Candidate) -> None:
    other = actor_of(make_person(project, name="carol"))
    assert claim(candidate, actor=actor_of(alice)) is None
    assert "alice has claimed" in (claim(candidate, actor=other) or "")
    CandidateClaim.objects.update(claimed_at=Now() - timedelta(minutes=16))
    assert claim(candidate, actor=other) is None


def test_what_others_have_claimed_is_left_out_of_a_selection(
    alice: User, project: Project, candidate: Candidate
) -> None:
    claim(candidate, actor=actor_of(make_person(project, name="carol")))
    answer = signed_in(alice).get(f"{QUEUE}bulk/?action=defer&c={candidate.pk}")
    assert "carol has claimed" in answer.content.decode()
    assert "Nothing to defer together" in answer.content.decode()


def test_a_selected_row_stands_for_its_group_and_the_preview_says_so(
    alice: User, project: Project
) -> None:
    made = [make_candidate(project, f"Retry {n} times.", path=b"%d.md" % n) for n in (3, 4, 5)]
    answer = signed_in(alice).get(f"{QUEUE}bulk/?action=promote&g={made[0].pk}")
    text = answer.content.decode()
    assert "Promote 3?" in text
    assert text.count("2 others of this selection</b> say nearly the same") == 3


def test_a_foreign_saved_filter_is_not_removed(alice: User, bob: User, project: Project) -> None:
    kept = SavedFilter.objects.create(scope=project.scope, user=alice, name="Mine", query="")
    signed_in(bob).post(f"/projects/other/review/saved/{kept.pk}/remove")
    carol = make_person(project, name="carol")
    signed_in(carol).post(f"{QUEUE}saved/{kept.pk}/remove")
    assert SavedFilter.objects.filter(pk=kept.pk).exists()


def test_a_reader_claims_nothing(rita: User, candidate: Candidate) -> None:
    address = f"/projects/payments-api/candidates/{candidate.pk}/claim"
    assert signed_in(rita).post(address, {"act": "claim"}).status_code == 403


def test_other_projects_are_named_with_what_is_open(alice: User, project: Project) -> None:
    other = make_project("second")
    other.scope.memberships.create(user=alice, role="READER")
    make_candidate(other, "Elsewhere.")
    text = signed_in(alice).get(QUEUE).content.decode()
    assert re.search(r'second</span> <span class="count">1<', text)


def test_more_rows_take_no_more_statements(alice: User, project: Project) -> None:
    client = signed_in(alice)
    taken = []
    for count in (3, 15):
        for number in range(count):
            name = "".join("abcdefghijklmno"[int(d)] for d in f"{count}{number}")
            make_candidate(project, f"Rule {name}.", path=b"docs/all.md", after="")
        with CaptureQueriesContext(
            connection,
        ) as found:
            client.get(QUEUE)
        taken.append(len(found) - found_moved(found))
    assert taken[1] <= taken[0]


def found_moved(found: CaptureQueriesContext) -> int:
    """Looks for where a text that is gone stands now: of verdicts, one for each such row."""
    return sum('"codememory_evidencesegment"."sha256" =' in one["sql"] for one in found)
