"""Two reviewers at a real queue: claims, groups, saved filters, pages that stay, phone, no script.

Each works in a browser of their own, by mouse or by keyboard alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from codememory.models import Candidate, CandidateClaim, Project, ReviewDecision, SavedFilter
from tests.builders import PASSWORD, make_candidate, make_person, make_project

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

QUEUE = "/projects/payments-api/review/"
THINGS = ("Refunds", "Payouts", "Invoices", "Ledgers")
Reviewer = Callable[..., "Page"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Four rules, and one that three documents say with another number."""
    project = make_project("payments-api", tmp_path)
    for thing in THINGS:
        make_candidate(
            project, f"{thing} must be reviewed by two people.", path=b"%b.md" % thing.encode()
        )
    for number in (3, 4, 5):
        make_candidate(
            project, f"Retry at most {number} times.", type="pattern", path=b"retry%d.md" % number
        )
    make_person(project, name="marta")
    make_person(project, name="jonas")
    return project


@pytest.fixture
def reviewer(project: Project, browser_page: Page) -> Iterator[Reviewer]:
    """Return a page at which somebody has signed in, in a browser of their own."""
    browser = browser_page.context.browser
    assert browser is not None
    browser_page.goto("/accounts/login/")
    base = browser_page.url.partition("/accounts")[0]
    opened = []

    def sign_in(name: str, *, width: int = 1440, script: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, base_url=base, java_script_enabled=script
        )
        opened.append(context)
        page = context.new_page()
        page.goto(f"/accounts/login/?next={QUEUE}")
        page.fill("[name=username]", name)
        page.fill("[name=password]", PASSWORD)
        page.press("[name=password]", "Enter")
        page.wait_for_url(f"**{QUEUE}")
        return page

    yield sign_in
    for context in opened:
        context.close()
    connections.close_all()


def number_of(statement: str) -> int:
    return Candidate.objects.get(statement__startswith=statement).pk


def claims(page: Page) -> list[str]:
    return page.locator(".items .claim").all_text_contents()


def text(page: Page) -> str:
    return page.text_content("main") or ""


def test_two_reviewers_do_not_decide_on_the_same_candidate(reviewer: Reviewer) -> None:
    marta, jonas = reviewer("marta"), reviewer("jonas")
    number = number_of("Refunds")
    open_page = f"/projects/payments-api/candidates/{number}/"
    marta.goto(open_page)
    jonas.goto(f"{QUEUE}?at={number}")
    with jonas.expect_navigation():
        jonas.keyboard.press("c")
    assert "yours, 15 min" in text(jonas)
    with marta.expect_navigation():  # her page is older than his claim
        marta.keyboard.press("p")
    assert f"jonas has claimed C{number} for 15 more minutes" in text(marta)
    assert not ReviewDecision.objects.exists()
    marta.goto(f"{QUEUE}?at={number}")
    assert marta.is_disabled("#peek .acts button:has-text('Promote')")
    assert "jonas, 15 min" in text(marta)


def test_a_claim_ends_with_the_decision_of_its_holder(reviewer: Reviewer) -> None:
    jonas = reviewer("jonas")
    jonas.goto(f"{QUEUE}?at={number_of('Refunds')}")
    for key in ("c", "p"):
        with jonas.expect_navigation():
            jonas.keyboard.press(key)
    assert ReviewDecision.objects.get().action == "PROMOTE"
    assert not CandidateClaim.objects.exists()


def test_near_duplicates_stand_in_one_row_and_are_decided_together(reviewer: Reviewer) -> None:
    page = reviewer("marta")
    assert claims(page)[-1] == "Retry at most 3 times."
    assert len(claims(page)) == 5
    page.check(".items li:last-child input")
    page.click("button:has-text('Reject…')")
    assert page.text_content("h1") == "Reject 3?"
    assert all(f"Retry at most {n} times." in text(page) for n in (3, 4, 5))
    page.fill("#reason", "same rule, other number")
    page.click("button:has-text('Reject 3')")
    assert Candidate.objects.filter(state="REJECTED").count() == 3
    assert page.locator(".items li").count() == 5  # the row stays where it was, struck
    assert page.locator(".items .decided s").all_text_contents() == ["Retry at most 3 times."]
    page.click("button:has-text('Undo all 3')")
    assert not Candidate.objects.filter(state="REJECTED").exists()


def test_the_similar_ones_are_a_link_away(reviewer: Reviewer) -> None:
    page = reviewer("marta")
    page.click("a.similar")
    assert claims(page) == [f"Retry at most {n} times." for n in (3, 4, 5)]


def test_what_is_decided_stays_until_the_page_is_left(reviewer: Reviewer) -> None:
    page = reviewer("marta")
    before = claims(page)
    page.keyboard.press("r")
    page.keyboard.type("not ours")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert claims(page) == before
    assert page.locator(".items li").nth(0).get_attribute("class") == "decided"
    assert page.evaluate("document.activeElement.textContent") == before[1]
    page.click("text=Look again")
    assert claims(page) == before[1:]


def test_a_filter_is_saved_counted_and_forgotten(reviewer: Reviewer) -> None:
    page = reviewer("marta")
    page.click("nav.rail >> text=pattern")
    page.click("text=Save these filters")
    page.fill("#save-rail", "Patterns")
    page.click("nav.rail button:has-text('Save')")
    saved = SavedFilter.objects.get()
    assert (saved.user.username, saved.query) == ("marta", "type=pattern")
    page.goto(QUEUE)
    assert (page.text_content("li.saved a") or "").split() == ["Patterns", "3"]
    page.click("li.saved a")
    assert claims(page) == ["Retry at most 3 times."]
    page.click("li.saved button")
    assert not SavedFilter.objects.exists()


def test_saved_filters_are_ones_own(reviewer: Reviewer, project: Project) -> None:
    page = reviewer("jonas")
    page.goto(f"{QUEUE}?q=refunds")
    page.click("text=Save these filters")
    page.fill("#save-rail", "Refunds")
    page.click("nav.rail button:has-text('Save')")
    other = reviewer("marta")
    assert other.locator("li.saved").count() == 0


def test_an_hour_by_keyboard_alone(reviewer: Reviewer) -> None:
    """Move, look, decide, undo, search, without a mouse and without the page being left."""
    page = reviewer("marta")
    page.keyboard.press("j")
    page.wait_for_selector(f"#peek article[aria-label='Preview of C{number_of('Payouts')}']")
    with page.expect_navigation():
        page.keyboard.press("p")
    assert Candidate.objects.get(statement__startswith="Payouts").state == "PROMOTED"
    assert page.get_attribute("li[data-here]", "data-number") == str(number_of("Invoices"))
    with page.expect_navigation():
        page.keyboard.press("u")
    assert not Candidate.objects.exclude(state="PENDING").exists()
    page.keyboard.press("/")
    page.keyboard.type("ledg")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert claims(page) == ["Ledgers must be reviewed by two people."]


def test_a_mouse_shows_a_claim_beside_the_list_and_then_its_page(reviewer: Reviewer) -> None:
    page = reviewer("marta")
    number = number_of("Ledgers")
    page.click(f"li[data-number='{number}'] .claim")
    page.wait_for_selector(f"#peek article[aria-label='Preview of C{number}']")
    page.click(f"li[data-number='{number}'] .claim")
    page.wait_for_url(f"**/candidates/{number}/**")


def test_the_queue_works_without_javascript(reviewer: Reviewer) -> None:
    page = reviewer("marta", script=False)
    page.click(".legend button:has-text('Next')")
    number = number_of("Payouts")
    assert page.get_attribute("li[data-here]", "data-number") == str(number)
    page.click("#peek button:has-text('Claim')")
    assert CandidateClaim.objects.get().candidate_id == number
    page.click("#peek button:has-text('Promote')")
    assert page.locator(".items .decided").count() == 1
    page.select_option("#sort", "new")
    page.click("button:has-text('Show')")
    assert claims(page)[-1].startswith("Refunds")
    page.click("text=Show each")
    assert len(claims(page)) == 6


def test_the_queue_fits_a_phone(reviewer: Reviewer) -> None:
    page = reviewer("marta", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.click("summary.button:has-text('Filters')")
    page.select_option("#f-type", "pattern")
    page.click("button:has-text('Apply')")
    assert claims(page) == ["Retry at most 3 times."]
    page.click(".items .claim")
    page.wait_for_url("**/candidates/**")
    page.click("button:has-text('Claim')")
    assert CandidateClaim.objects.count() == 1


@pytest.mark.parametrize("key", ["", "j"])
def test_cited_words_far_down_in_their_evidence_come_into_view(
    reviewer: Reviewer, project: Project, key: str
) -> None:
    """Who decides in the pane sees what the claim rests on, not the beginning of its section."""
    before = "# Long\n\n" + "".join(f"- Line {number} of it.\n" for number in range(90))
    said = make_candidate(project, "The very end must hold.", path=b"long.md", before=before)
    marta = reviewer("marta")
    marta.goto(f"{QUEUE}?sort=new" if not key else f"{QUEUE}?at={said.pk - 1}&each=yes")
    if key:
        marta.keyboard.press(key)
    marta.wait_for_selector(f"#peek:not([inert]) article[aria-label='Preview of C{said.pk}']")
    inside = """mark => {
      const [at, box] = [mark, mark.closest(".scroll")].map((one) => one.getBoundingClientRect());
      return at.top >= box.top && at.bottom <= box.bottom;
    }"""
    assert marta.locator("#peek mark").first.evaluate(inside)


def test_on_a_phone_the_cited_words_are_a_link_away_and_the_bar_leaves_them_room(
    reviewer: Reviewer, project: Project
) -> None:
    """Without a script too: the link is an anchor, the other ways to decide fold out."""
    before = "# Long\n\n" + "".join(f"- Line {number} of it.\n" for number in range(90))
    said = make_candidate(project, "The very end must hold.", path=b"long.md", before=before)
    page = reviewer("marta", width=390, script=False)
    page.goto(f"{QUEUE.removesuffix('review/')}candidates/{said.pk}/")
    assert page.locator(".decide").evaluate("bar => bar.offsetHeight") <= 130
    page.click("text=cited in line 93")
    mark, bar = page.locator("mark").first.bounding_box(), page.locator(".decide").bounding_box()
    assert mark is not None
    assert bar is not None
    assert 48 <= mark["y"] <= bar["y"] - mark["height"]
    page.click(".decide >> text=More")
    page.click(".folded >> text=Narrow its scope")
    page.wait_for_url("**/narrow/")
