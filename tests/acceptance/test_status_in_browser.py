"""The badge in a real browser: it follows what happens without a reload, and is said once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from codememory.models import Project, Run, RunState, Worktree
from tests.builders import PASSWORD, make_person, make_project

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUEUE = "/projects/payments-api/review/"
WATCH = """() => {
  window.said = [];
  new MutationObserver(() => window.said.push(document.querySelector(".status-word").textContent))
    .observe(document.querySelector(".status-word"), {childList: true, characterData: true, subtree: true});
}"""  # noqa: E501


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def page(project: Project, browser_page: Page) -> Iterator[Page]:
    """A reviewer's window with a clock that the test moves."""
    make_person(project)
    browser_page.clock.install()
    browser_page.goto("/accounts/login/")
    browser_page.fill("input[name=username]", "alice")
    browser_page.fill("input[name=password]", PASSWORD)
    with browser_page.expect_navigation():
        browser_page.keyboard.press("Enter")
    browser_page.goto(QUEUE)
    yield browser_page
    connections.close_all()


def ask_again(page: Page) -> None:
    """Let ten seconds pass, and wait for the answer."""
    with page.expect_response("**/status/") as answer:
        page.clock.run_for(10_000)
    answer.value.finished()
    page.evaluate("() => new Promise(done => queueMicrotask(done))")


def test_it_turns_without_a_reload_and_says_a_word_only_when_it_changes(
    page: Page, project: Project
) -> None:
    page.evaluate(WATCH)
    ask_again(page)
    worktree = Worktree.objects.get(scope=project.scope)
    run = Run.objects.create(
        scope=project.scope, worktree=worktree, source="git", policy_generation=1
    )
    ask_again(page)
    page.locator(".status.collecting").wait_for()
    ask_again(page)
    Run.objects.filter(pk=run.pk).update(state=RunState.FAILED)
    ask_again(page)
    page.locator(".status.failing").wait_for()
    assert page.evaluate("window.said") == ["Collecting", "Failing"]
    assert page.inner_text(".status-fact") == "1 run failed"


def test_it_stops_asking_once_somebody_signed_out_elsewhere(page: Page) -> None:
    page.context.clear_cookies()
    with page.expect_response("**/status/"):
        page.clock.run_for(10_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(60_000)
    # Its last answer was the way to sign-in, which the browser may name and does not follow.
    assert [url for url in asked if "login" not in url] == []


def test_without_javascript_it_says_how_things_were(page: Page) -> None:
    browser = page.context.browser
    assert browser is not None
    bare = browser.new_page(
        java_script_enabled=False, storage_state=page.context.storage_state(), base_url=page.url
    )
    bare.goto(QUEUE)
    assert bare.inner_text(".status-word") == "Healthy"
