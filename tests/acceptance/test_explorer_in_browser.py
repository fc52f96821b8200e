"""The explorer in a real browser: from a question to its code, a rename settled, on any screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from codememory.models import OriginState, PathOrigin, Project, Role, SourceRevision
from tests.builders import PASSWORD, make_person
from tests.repos import RepoBuilder
from tests.review.explored import SLUG, changes_of, make_shop

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    project = make_shop(RepoBuilder(tmp_path / "shop"))
    make_person(project, Role.REVIEWER, "ann")
    return project


@pytest.fixture
def page(shop: Project, browser_page: Page) -> Iterator[Page]:
    """A reviewer's window at the project."""
    browser_page.goto("/accounts/login/")
    browser_page.fill("input[name=username]", "ann")
    browser_page.fill("input[name=password]", PASSWORD)
    with browser_page.expect_navigation():
        browser_page.keyboard.press("Enter")
    yield browser_page
    # Django keeps connections by event loop, and this one's ends with the browser.
    connections.close_all()


def go(page: Page, key: str) -> None:
    with page.expect_navigation():
        page.keyboard.press(key)


def places(project: Project) -> list[str]:
    change = changes_of(project, "till.py")[1]
    document = SourceRevision.objects.filter(kind="documents").earliest("pk")
    content = change.file_changes.earliest("pk").content_change_id
    named = ["history/", "history/?subject=till.py", "history/?subject=till.py:Till.open"]
    named += [f"changes/L{change.pk}/", f"changes/L{change.pk}/?view=unified"]
    named += [f"documents/D{document.pk}/", f"evidence/A{content}.1/", "more/"]
    named += ["knowledge/", "knowledge/?q=refund", "ask/", "ask/?task=book+a+refund"]
    return [f"{SLUG}/{place}" for place in [*named, "renames/"]]


def test_a_symbol_is_asked_for_by_keyboard_and_its_change_opened(page: Page, shop: Project) -> None:
    """From a name to the old and new code of what happened to it, without a mouse."""
    page.goto(f"{SLUG}/history/")
    page.keyboard.press("/")
    page.keyboard.type("Till.open")
    go(page, "Enter")
    assert page.text_content("h1") == "Till.open"
    page.locator(".events .event-head a").nth(1).focus()
    go(page, "Enter")
    assert page.text_content("ins") == "self.colour"


def test_a_doubtful_rename_is_settled_and_chosen_again_without_javascript(
    page: Page, shop: Project
) -> None:
    """A queue that the reviewer can settle: one source, and undone by choosing again."""
    browser = page.context.browser
    assert browser is not None
    bare = browser.new_page(
        java_script_enabled=False, storage_state=page.context.storage_state(), base_url=page.url
    )
    bare.goto(f"{SLUG}/renames/")
    bare.get_by_label("left.py", exact=False).first.check()
    bare.click("button:has-text('Settle')")
    assert "twin.py came from left.py." in (bare.text_content(".last") or "")
    bare.goto(f"{SLUG}/renames/?state=settled")
    bare.get_by_label("Leave it open again").check()
    bare.click("button:has-text('Choose again')")
    assert set(PathOrigin.objects.values_list("state", flat=True)) == {OriginState.OPEN}


def test_a_question_is_asked_and_its_evidence_opened_without_javascript(
    page: Page, shop: Project
) -> None:
    """Ask as an agent would: links and forms alone."""
    browser = page.context.browser
    assert browser is not None
    bare = browser.new_page(
        java_script_enabled=False, storage_state=page.context.storage_state(), base_url=page.url
    )
    bare.goto(f"{SLUG}/ask/")
    bare.fill("#task", "switch the light on in the colour")
    bare.click("button:has-text('Ask')")
    assert bare.text_content("#verification_gaps") is not None
    bare.click(".answer .ids a >> nth=0")
    assert "Source reference" in (bare.text_content("main") or "")


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_no_page_of_the_explorer_scrolls_sideways(page: Page, shop: Project, width: int) -> None:
    """The page never scrolls sideways, phone or desk; nothing is asked of another host."""
    page.set_viewport_size({"width": width, "height": 844})
    for place in places(shop):
        answer = page.goto(place)
        assert answer is not None
        assert answer.ok, place
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place


def test_on_a_phone_every_place_is_reached_over_more(page: Page, shop: Project) -> None:
    """The bar has five places; the others are a page away."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{SLUG}/history/")
    assert page.locator(".nav li:visible").count() == 5
    page.click(".nav >> text=More")
    page.click("main >> text=Audit")
    assert page.text_content("h1") == "Audit"
