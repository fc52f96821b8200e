"""Several candidates at once: what the preview says is what happens, all of it or nothing."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from codememory.models import Candidate, Memory, Project, ReviewDecision
from codememory.people import actor_of
from review.second_reviewers import switch_second_reviewer
from tests.builders import make_candidate, make_memory, signed_in

BULK = "/projects/payments-api/review/bulk/"


@pytest.fixture
def three(project: Project) -> list[Candidate]:
    """Two rules and a plan."""
    return [
        make_candidate(project, "Fees are ours.", path=b"a.md"),
        make_candidate(project, "Taxes are theirs.", path=b"b.md"),
        make_candidate(project, "Fees will end.", path=b"c.md", modality="PLAN"),
    ]


@pytest.fixture
def client(alice: User) -> Client:
    return signed_in(alice)


def preview(client: Client, action: str, candidates: list[Candidate]) -> str:
    selected = "".join(f"&c={each.pk}" for each in candidates)
    answer = client.get(f"{BULK}?action={action}{selected}")
    assert answer.status_code == 200
    return answer.content.decode()


def confirm(client: Client, action: str, page: str, **more: str) -> tuple[int, str]:
    """Send the form of a preview."""
    picks = re.findall(r'name="pick" value="([^"]+)"', page)
    answer = client.post(BULK, {"action": action, "pick": picks, **more})
    return answer.status_code, answer.content.decode()


def states() -> list[str]:
    return list(Candidate.objects.order_by("id").values_list("state", flat=True))


def test_a_preview_counts_rules_and_plans_and_changes_nothing(
    client: Client, three: list[Candidate]
) -> None:
    page = preview(client, "promote", three)
    assert "Promote 3?" in page
    assert "2 become memories, 1 is a plan and stays one." in page
    assert states() == ["PENDING"] * 3


def test_confirming_does_exactly_what_was_previewed(client: Client, three: list[Candidate]) -> None:
    status, _ = confirm(client, "promote", preview(client, "promote", three))
    decisions = ReviewDecision.objects.order_by("candidate")
    assert status == 302
    assert [decision.action for decision in decisions] == ["PROMOTE", "PROMOTE", "PROMOTE_AS_PLAN"]
    assert len({decision.batch for decision in decisions}) == 1


def test_one_undo_takes_the_whole_back(client: Client, three: list[Candidate]) -> None:
    confirm(client, "promote", preview(client, "promote", three))
    batch = ReviewDecision.objects.values_list("batch", flat=True)[0]
    client.post(f"{BULK}undo", {"batch": str(batch)})
    assert states() == ["PENDING"] * 3
    assert set(Memory.objects.values_list("state", flat=True)) == {"ARCHIVED"}
    assert "Took back 3 decisions" in client.get("/projects/payments-api/review/").content.decode()


def test_one_that_changed_since_stops_all_of_them(client: Client, three: list[Candidate]) -> None:
    page = preview(client, "promote", three)
    Candidate.objects.filter(pk=three[1].pk).update(version=2)
    status, answer = confirm(client, "promote", page)
    assert status == 409
    assert "Nothing was decided." in answer
    assert f"C{three[1].pk}</a> changed since the preview" in answer
    assert (states(), ReviewDecision.objects.count()) == (["PENDING"] * 3, 0)


def test_a_conflict_within_the_selection_is_said_and_does_not_stop_it(
    client: Client, project: Project
) -> None:
    pair = [
        make_candidate(project, f"Tests are {how}.", subject="tests", path=b"%d.md" % index)
        for index, how in enumerate(("fast", "slow"))
    ]
    page = preview(client, "promote", pair)
    assert f"C{pair[1].pk} of this selection" in page
    assert confirm(client, "promote", page)[0] == 302
    assert states() == ["PROMOTED", "PROMOTED"]


def test_an_active_rule_of_the_same_subject_is_named(
    client: Client, alice: User, project: Project
) -> None:
    memory = make_memory(make_candidate(project, "Tests are fast.", subject="tests"), alice)
    other = make_candidate(project, "Tests are slow.", subject="tests", path=b"b.md")
    assert f"M{memory.pk} stays active beside it" in preview(client, "promote", [other])


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"flags": ["INSTRUCTION_LIKE"]}, "it addresses an AI"),
        ({"flags": ["UNTRUSTED_INSTRUCTIONS"]}, "its file instructs agents"),
        ({"modality": "QUESTION"}, "a question is never promoted as a rule"),
    ],
)
def test_what_wants_its_own_look_is_left_out_of_promoting(
    client: Client, project: Project, more: dict[str, object], why: str
) -> None:
    candidate = make_candidate(project, **more)  # type: ignore[arg-type]
    page = preview(client, "promote", [candidate])
    assert "Nothing to promote together" in page
    assert why in page


def test_what_would_replace_a_rule_is_left_out_of_promoting(
    client: Client, alice: User, project: Project
) -> None:
    memory = make_memory(make_candidate(project, "Keys live for 90 days.", after=""), alice)
    newer = make_candidate(project, "Keys live for 400 days.", after="")
    assert f"it would replace M{memory.pk}" in preview(client, "promote", [newer])


def test_a_form_that_names_what_was_left_out_decides_nothing(
    client: Client, project: Project
) -> None:
    candidate = make_candidate(project, flags=["INSTRUCTION_LIKE"])
    page = preview(client, "reject", [candidate])
    status, answer = confirm(client, "promote", page)
    assert (status, states()) == (409, ["PENDING"])
    assert "It addresses an AI" in answer


def test_rejecting_needs_one_reason_for_all(client: Client, three: list[Candidate]) -> None:
    page = preview(client, "reject", three)
    status, answer = confirm(client, "reject", page, reason=" ")
    assert (status, states()) == (422, ["PENDING"] * 3)
    assert "Say in a few words why" in answer
    confirm(client, "reject", page, reason="not ours")
    assert set(ReviewDecision.objects.values_list("reason", flat=True)) == {"not ours"}


def test_deferring_takes_them_out_of_the_open_ones(client: Client, three: list[Candidate]) -> None:
    confirm(client, "defer", preview(client, "defer", three))
    assert states() == ["DEFERRED"] * 3


def test_undo_leaves_what_was_decided_on_since(client: Client, three: list[Candidate]) -> None:
    confirm(client, "defer", preview(client, "defer", three))
    batch = ReviewDecision.objects.values_list("batch", flat=True)[0]
    confirm(client, "promote", preview(client, "promote", three[:1]))
    answer = client.post(f"{BULK}undo", {"batch": str(batch)})
    assert answer.status_code == 409
    assert "Took back 2" in answer.content.decode()
    assert states() == ["PROMOTED", "PENDING", "PENDING"]


def test_an_undo_sent_twice_is_done_once(client: Client, three: list[Candidate]) -> None:
    confirm(client, "defer", preview(client, "defer", three))
    batch = str(ReviewDecision.objects.values_list("batch", flat=True)[0])
    client.post(f"{BULK}undo", {"batch": batch})
    assert client.post(f"{BULK}undo", {"batch": batch}).status_code == 409
    assert ReviewDecision.objects.filter(action="UNDO").count() == 3


def test_a_reader_previews_and_decides_nothing(rita: User, three: list[Candidate]) -> None:
    client = signed_in(rita)
    answer = client.get(BULK, {"action": "promote", "c": str(three[0].pk)})
    assert answer.status_code == 403


def test_a_foreign_candidate_in_a_selection_is_absent(
    bob: User, alice: User, project: Project, three: list[Candidate]
) -> None:
    page = preview(signed_in(alice), "reject", three)
    picks = re.findall(r'name="pick" value="([^"]+)"', page)
    client = signed_in(bob)
    seen = client.get("/projects/other/review/bulk/", {"action": "reject", "c": str(three[0].pk)})
    sent = client.post(
        "/projects/other/review/bulk/", {"action": "reject", "pick": picks, "reason": "x"}
    )
    assert three[0].statement not in seen.content.decode()
    assert (sent.status_code, states()) == (404, ["PENDING"] * 3)


def test_a_foreign_batch_is_not_taken_back(
    client: Client, bob: User, three: list[Candidate]
) -> None:
    confirm(client, "defer", preview(client, "defer", three))
    batch = str(ReviewDecision.objects.values_list("batch", flat=True)[0])
    signed_in(bob).post("/projects/other/review/bulk/undo", {"batch": batch})
    assert states() == ["DEFERRED"] * 3


@pytest.mark.parametrize(
    "query", ["action=burn&c=1", "action=promote&c=x", "action=promote&c=-1", "c=1"]
)
def test_an_address_that_is_not_ours_is_refused(client: Client, query: str) -> None:
    assert client.get(f"{BULK}?{query}").status_code == 400


@pytest.mark.parametrize("pick", ["", "1", "1.1.zz.", "1.1." + "0" * 64 + ".a"])
def test_a_pick_that_is_not_ours_is_refused(client: Client, pick: str) -> None:
    assert client.post(BULK, {"action": "defer", "pick": [pick]}).status_code == 400


def test_where_a_memory_takes_two_the_preview_says_so_before_anything_is_confirmed(
    client: Client, alice: User, project: Project, three: list[Candidate]
) -> None:
    switch_second_reviewer(project, is_on=True, actor=actor_of(alice))
    page = preview(client, "promote", three)
    assert "This project asks for a second reviewer" in page
    assert page.count("it takes two reviewers: each decides on its own page") == 3
    assert 'name="pick"' not in page
    assert "Reject 3?" in preview(client, "reject", three)


def test_a_reason_for_several_that_holds_a_secret_is_refused(
    client: Client, three: list[Candidate]
) -> None:
    reason = "it says password = hunter2hunter2"
    status, text = confirm(client, "reject", preview(client, "reject", three), reason=reason)
    assert (status, states()) == (422, ["PENDING"] * 3)
    assert "This looks like a secret (password)" in text


def test_after_several_the_next_open_one_is_current(
    client: Client, three: list[Candidate], project: Project
) -> None:
    picks = re.findall(r'name="pick" value="([^"]+)"', preview(client, "defer", three[:2]))
    answer = client.post(BULK, {"action": "defer", "pick": picks})
    assert answer["Location"].endswith(f"?at={three[2].pk}")
