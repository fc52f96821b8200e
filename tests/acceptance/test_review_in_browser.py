"""A reviewer in a real browser: from the one-time link to a decision and back, by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from django.db import connections

from codememory.models import Candidate, Memory, Project, ReviewDecision
from codememory.people import create_administrator
from codememory.recall import engineering_context
from tests.collected import collect
from tests.repos import RepoBuilder

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAID = [
    "A retried refund must reuse the idempotency key of its first attempt.",
    "Every refund must be booked in the ledger before the customer is told.",
    "We decided to round refund amounts down to whole cents.",
]
RULES = "# Refunds\n\n## Rules\n\n- {}\n- {}\n\n## Decision\n\n{}\n".format(*SAID)
UNRELATED = [
    "render the invoice as PDF",
    "add a dark theme to the settings page",
    "upgrade the build image",
    "rename the users table",
    "send a welcome mail after sign-up",
    "cache thumbnails of product photos",
    "write a health check for the queue",
    "translate the footer into Turkish",
    "paginate the list of orders",
    "log slow SQL queries",
    "split the settings module",
    "drop support for old browsers",
    "import suppliers from a spreadsheet",
    "measure memory of the worker",
    "validate postal codes",
    "schedule the nightly backup",
    "show a map on the contact page",
    "hash passwords with a slower function",
    "fix a flaky test of the calendar",
    "compress uploaded videos",
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository of which documents were collected: its rules are candidates by rule."""
    repo = RepoBuilder(tmp_path / "payments-api")
    repo.write("docs/refunds.md", RULES)
    repo.write("shop/refunds.py", "def issue_refund(order):\n    return order.key\n")
    repo.commit()
    return collect(repo)


@pytest.fixture
def page(project: Project, browser_page: Page) -> Iterator[Page]:
    """The queue, open for an administrator who came by their one-time link."""
    browser_page.goto(create_administrator("root"))
    browser_page.keyboard.type("a longer pass phrase")  # the first field has the focus
    browser_page.keyboard.press("Tab")
    browser_page.keyboard.type("a longer pass phrase")
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_url("**/projects/payments-api/review/")
    yield browser_page
    # Django keeps connections by event loop, and this one's ends with the browser.
    connections.close_all()


def states() -> list[str]:
    return list(Candidate.objects.order_by("id").values_list("state", flat=True))


def press(page: Page, key: str) -> None:
    """Press a key that leads to another page, and wait for it."""
    with page.expect_navigation():
        page.keyboard.press(key)


def second_window(page: Page, *, has_scripts: bool = True) -> Page:
    """A window beside the first one, in the same session and at the same address."""
    browser = page.context.browser
    assert browser is not None
    window = browser.new_page(
        java_script_enabled=has_scripts,
        storage_state=page.context.storage_state(),
        viewport={"width": 1440, "height": 900},
    )
    window.goto(page.url)
    return window


def test_a_candidate_is_promoted_by_keyboard_alone(page: Page) -> None:
    """ "Headless Chromium: sign in, promote by keyboard." """
    press(page, "Enter")
    assert page.text_content("h1") == SAID[0]
    press(page, "p")
    assert page.text_content("h1") == SAID[1]
    assert Memory.objects.get().statement == SAID[0]


def test_a_promoted_rule_reaches_the_agent_whose_task_it_is_about(
    page: Page, project: Project
) -> None:
    """ "context for that task then lists it under applicable_rules with its evidence"."""
    press(page, "p")
    (rule,) = engineering_context(project, "retry a refund with its idempotency key")[
        "applicable_rules"
    ]
    memory = Memory.objects.get()
    assert (rule["id"], rule["standing"]) == (f"M{memory.pk}", "reviewed")
    assert rule["evidence_ids"] == [f"S{memory.evidence_links.get().segment_id}"]


def test_a_promoted_rule_does_not_reach_twenty_unrelated_tasks(
    page: Page, project: Project
) -> None:
    """ "twenty unrelated tasks do not" list it."""
    press(page, "p")
    assert len(UNRELATED) == 20
    for task in UNRELATED:
        assert engineering_context(project, task)["applicable_rules"] == []


def test_a_candidate_is_rejected_with_a_reason_by_keyboard(page: Page) -> None:
    """r goes to the reason, Enter there sends it: and never promotes."""
    page.keyboard.press("r")
    page.keyboard.type("p is a letter here, not a key")
    press(page, "Enter")
    assert states() == ["REJECTED", "PENDING", "PENDING"]
    assert ReviewDecision.objects.get().reason == "p is a letter here, not a key"


def test_the_last_decision_is_taken_back_by_keyboard(page: Page) -> None:
    """Undo is a compensating decision, one key away."""
    press(page, "p")
    press(page, "u")
    assert page.text_content(".last") is not None
    assert states() == ["PENDING"] * 3
    assert Memory.objects.get().state == "ARCHIVED"


def test_j_and_k_move_and_the_decision_is_on_what_is_shown(page: Page) -> None:
    """What a key decides on is the candidate in view."""
    _, second, third = Candidate.objects.order_by("id").values_list("pk", flat=True)
    for key, number in (("j", second), ("j", third), ("k", second)):
        page.keyboard.press(key)
        page.wait_for_selector(f"li[data-here][data-number='{number}']")
    page.wait_for_selector(f"#peek:not([inert]) article[aria-label='Preview of C{second}']")
    press(page, "p")
    assert states() == ["PENDING", "PROMOTED", "PENDING"]


def test_a_key_decides_nothing_while_the_pane_still_shows_the_candidate_before(page: Page) -> None:
    """Whoever is quicker than the server does not decide on what they have left."""
    second = Candidate.objects.order_by("id")[1].pk
    held: list[Route] = []
    page.route("**/review/pane/**", lambda route: held.append(route))  # noqa: PLW0108 -- playwright marks its handlers
    with page.expect_request("**/review/pane/**"):
        page.keyboard.press("j")
    page.keyboard.press("p")
    assert page.locator("#peek").get_attribute("inert") is not None
    held[0].continue_()
    page.wait_for_selector(f"#peek:not([inert]) article[aria-label='Preview of C{second}']")
    assert states() == ["PENDING"] * 3


def test_an_empty_reason_rejects_nothing(page: Page) -> None:
    """A reason is required to reject."""
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    press(page, "?")
    assert states() == ["PENDING"] * 3


def test_keys_with_control_or_in_a_field_decide_nothing(page: Page) -> None:
    """Single keys never act in a field, nor with a modifier."""
    page.keyboard.press("Control+p")
    page.keyboard.press("/")
    page.keyboard.type("pup")
    press(page, "Enter")
    assert "q=pup" in page.url
    assert states() == ["PENDING"] * 3


def test_a_candidate_that_changed_meanwhile_is_not_decided(page: Page) -> None:
    """ "changed since you opened it": nothing was decided."""
    tab = second_window(page)  # Chromium calls a 409 an error in the console, rightly here
    Candidate.objects.filter(statement=SAID[0]).update(version=2)
    press(tab, "p")
    assert "changed since you opened it" in (tab.text_content("main") or "")
    assert states() == ["PENDING"] * 3
    press(tab, "Enter")  # Look again
    press(tab, "p")
    assert states() == ["PROMOTED", "PENDING", "PENDING"]


def test_no_page_asks_another_host_for_anything(page: Page) -> None:
    """ "no request to any other host": every request of a visit goes to this server."""
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    project = "/projects/payments-api"
    for address in ("/", "/keys/", "/accounts/", f"{project}/people/", f"{project}/audit/"):
        page.goto(address)
    assert hosts == {urlsplit(page.url).netloc}


def test_everything_works_without_javascript(page: Page) -> None:
    """ "It works without JavaScript for reading and deciding." """
    bare = second_window(page, has_scripts=False)
    bare.click(".peek >> text=Open")
    bare.fill("#reason", "not ours")
    bare.press("#reason", "Enter")
    bare.click("button:has-text('Undo')")
    bare.click(".decide >> text=Promote")
    assert states() == ["PROMOTED", "PENDING", "PENDING"]


@pytest.mark.parametrize("width", [375, 390, 768, 1280, 1440])
def test_no_page_scrolls_sideways(page: Page, width: int) -> None:
    """The page never scrolls sideways, phone or desk."""
    page.set_viewport_size({"width": width, "height": 844})
    first = Candidate.objects.earliest("id").pk
    for place in ("review/", f"review/bulk/?action=promote&c={first}", "people/", "audit/"):
        page.goto(f"/projects/payments-api/{place}")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for address in (f"/projects/payments-api/candidates/{first}/", "/keys/", "/accounts/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("width", [375, 768, 1280, 1440])
def test_a_flagged_row_stays_in_its_list(page: Page, width: int) -> None:
    """Nothing of a row is painted over what stands beside the list."""
    flags = ["INSTRUCTION_LIKE", "UNTRUSTED_INSTRUCTIONS"]
    Candidate.objects.filter(statement=SAID[0]).update(flags=flags)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/projects/payments-api/review/")
    right = "element => element.getBoundingClientRect().right"
    edge = page.eval_on_selector(".list", right)
    parts = page.locator(".items .meta > *").evaluate_all(f"all => all.map({right})")
    assert parts
    assert max(parts) <= edge


def test_words_for_an_ai_need_a_second_yes(page: Page) -> None:
    """One key makes no memory of words that may want to be obeyed; Enter on the question does."""
    Candidate.objects.filter(statement=SAID[0]).update(flags=["INSTRUCTION_LIKE"])
    page.reload()
    press(page, "p")
    page.keyboard.press("p")  # the rhythm of the queue decides nothing here
    assert "Nothing was decided yet" in (page.text_content("main") or "")
    assert not Memory.objects.exists()
    press(page, "Enter")
    assert Memory.objects.get().statement == SAID[0]


def test_the_second_yes_works_without_javascript(page: Page) -> None:
    """Back decides nothing; the question is a form like any other."""
    Candidate.objects.filter(statement=SAID[0]).update(flags=["UNTRUSTED_INSTRUCTIONS"])
    bare = second_window(page, has_scripts=False)
    bare.click(".peek >> text=Promote")
    bare.click(".decide >> text=Back")
    assert not Memory.objects.exists()
    bare.click(".decide >> text=Promote")
    bare.click("text=Yes, make it a memory")
    assert Memory.objects.get().statement == SAID[0]
