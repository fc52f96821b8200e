"""A team lead in a real browser: every number of the dashboard is clicked, runs are acted on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.db import connections

from codememory.models import Candidate, Project, Run, RunState, Worktree
from tests.builders import PASSWORD, make_memory
from tests.collected import collect
from tests.repos import RepoBuilder

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RULES = "# Refunds\n\n## Rules\n\n- A refund must be booked first.\n- Every refund needs its key.\n"
PLACES = [
    "/admin/",
    "/admin/database/?project=shop",
    "/admin/codememory/run/?measure=oldest",
    "/admin/codememory/filechange/",
    "/admin/auth/user/add/",
]


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    """A collected repository with a promoted rule, and a run that failed."""
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("docs/refunds.md", RULES)
    repo.write("shop/refunds.py", "def refund():\n    return 1\n")
    repo.write(".env", "KEY=1\n")
    repo.commit()
    project = collect(repo)
    root = User.objects.create_superuser("root", password=PASSWORD)
    make_memory(Candidate.objects.earliest("pk"), root)
    worktree = Worktree.objects.get(scope=project.scope)
    Run.objects.create(
        scope=project.scope,
        worktree=worktree,
        source="documents",
        state=RunState.FAILED,
        policy_generation=1,
        error_text="HEAD_GONE: collect again",
    )
    return project


@pytest.fixture
def page(shop: Project, browser_page: Page) -> Iterator[Page]:
    """The dashboard, open for an administrator who came by its address."""
    sign_in(browser_page)
    yield browser_page
    # Django keeps connections by event loop, and this one's ends with the browser.
    connections.close_all()


def sign_in(page: Page) -> None:
    page.goto("/admin/")
    page.fill("input[name=username]", "root")
    page.fill("input[name=password]", PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.text_content("h1") == "Coverage"


def test_every_number_that_is_clicked_opens_as_many_rows(page: Page) -> None:
    """ "Every number links to the rows behind it and equals their count (a test clicks each)." """
    numbers = page.locator("main a.figure")
    wrong, count = [], numbers.count()
    for index in range(count):
        link = numbers.nth(index)
        value, href = link.get_attribute("data-value"), str(link.get_attribute("href"))
        page.locator("details:not([open]) > summary").evaluate_all("all => all.map(s => s.click())")
        with page.expect_navigation():
            link.click()
        told = "data-measure" if "measure=" in href else "data-rows"
        if page.locator(f"[{told}]").get_attribute(told) != value:
            wrong.append((href, value))
        page.go_back()
    assert count > 60
    assert wrong == []


def test_a_failed_run_is_tried_again_and_cancelled(page: Page) -> None:
    """Retry puts it into the queue; then it can be cancelled: each is said on the page."""
    page.click("button:has-text('Retry')")
    assert "waits for a worker" in (page.text_content(".last") or "")
    page.click("button:has-text('Cancel')")
    assert "What it stored stays" in (page.text_content(".last") or "")
    assert Run.objects.latest("pk").state == RunState.CANCELLED


def test_the_dashboard_works_without_javascript(page: Page) -> None:
    """Narrowing to a project, opening rows and acting on a run are links and forms."""
    browser = page.context.browser
    assert browser is not None
    bare = browser.new_page(
        java_script_enabled=False, storage_state=page.context.storage_state(), base_url=page.url
    )
    bare.goto("/admin/")
    bare.click("main >> text=shop")
    assert bare.text_content("h1") == "Coverage of shop"
    bare.click("button:has-text('Retry')")
    assert Run.objects.latest("pk").state == RunState.QUEUED
    assert bare.url.endswith("/admin/?project=shop")


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_no_page_of_the_dashboard_scrolls_sideways(page: Page, width: int) -> None:
    """The page never scrolls sideways, phone or desk."""
    page.set_viewport_size({"width": width, "height": 844})
    run = Run.objects.earliest("pk").pk
    for place in [*PLACES, f"/admin/codememory/run/{run}/change/", "/projects/shop/coverage/"]:
        page.goto(place)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place
