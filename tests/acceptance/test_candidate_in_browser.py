"""One candidate in a real browser: each way to decide on it, and each of them taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.base import AXE_FILE_PATH  # type: ignore[import-untyped]
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections

from codememory.models import Candidate, Memory, Project, ReviewDecision, Role
from codememory.people import actor_of
from codememory.recall import engineering_context
from review.second_reviewers import switch_second_reviewer
from tests.builders import make_candidate, make_memory, make_person, signed_in
from tests.collected import collect
from tests.repos import RepoBuilder

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

KEY = "A retried refund must reuse the idempotency key of its first attempt."
TWIN = "Each retried refund must reuse the idempotency key of the first attempt."
LEDGER = "Every refund must be booked in the ledger before the customer is told."
LIVES = "We decided that refund keys live for {} days."
RULES = f"""# Refunds

## Rules

- {KEY}
- {LEDGER}

## Decision

{LIVES}
"""
EDITED = "A retried refund reuses the key of its first attempt, even days later."


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository whose decision was changed after it was read: two rules, and what replaced."""
    repo = RepoBuilder(tmp_path / "payments-api")
    repo.write("docs/refunds.md", RULES.format(90))
    repo.write("docs/more.md", f"# Rules\n\n- {TWIN}\n")
    repo.write("shop/refunds.py", "def issue_refund(order):\n    return order.key\n")
    repo.commit()
    return collect(repo)


@pytest.fixture
def alice(project: Project) -> User:
    return make_person(project, Role.LEAD, "alice")


def enter(page: Page, user: User, *, width: int = 1440) -> Page:
    """Sign a window in as somebody."""
    cookie = signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value
    page.context.clear_cookies()
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/accounts/login/")
    page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": page.url}]
    )
    return page


@pytest.fixture
def page(alice: User, browser_page: Page) -> Iterator[Page]:
    yield enter(browser_page, alice)
    connections.close_all()


def window(page: Page, user: User, *, has_scripts: bool = True, width: int = 1440) -> Page:
    """A window of somebody else's own browser; Chromium calls 409 and 422 errors there."""
    browser = page.context.browser
    assert browser is not None
    origin = "/".join(page.url.split("/")[:3])
    context = browser.new_context(base_url=origin, java_script_enabled=has_scripts)
    return enter(context.new_page(), user, width=width)


def said(statement: str) -> Candidate:
    return Candidate.objects.get(statement=statement)


def visit(page: Page, candidate: Candidate, form: str = "") -> None:
    page.goto(f"/projects/payments-api/candidates/{candidate.pk}/{form}")


def press(page: Page, key: str) -> None:
    """Press a key that leads to another page, and wait for it."""
    with page.expect_navigation():
        page.keyboard.press(key)


def click(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.click(f".decide button:has-text('{name}')")


def main(page: Page) -> str:
    return " ".join((page.text_content("main") or "").split())


def test_the_wording_is_edited_by_keyboard_and_the_original_stays(page: Page) -> None:
    """ "Promote with edited wording (the original kept)", and undone with one key."""
    visit(page, said(KEY))
    press(page, "e")
    page.keyboard.press("Control+a")  # the field has the focus
    page.keyboard.type(EDITED)
    click(page, "Promote so")
    assert Memory.objects.get().statement == EDITED
    visit(page, said(KEY))
    assert page.text_content("h1") == KEY
    assert "Promoted with these words" in main(page)
    press(page, "u")
    assert (said(KEY).state, Memory.objects.get().state) == ("PENDING", "ARCHIVED")


def test_a_rule_is_narrowed_to_a_path_and_agents_get_it_there(page: Page, project: Project) -> None:
    """ "Promote into a narrower scope (path or symbol)"."""
    visit(page, said(KEY))
    press(page, "n")
    page.fill("#narrow_to", "shop/")
    click(page, "Promote so")
    memory = Memory.objects.get()
    assert (memory.narrow_kind, memory.narrow_to) == ("PATH", "shop")
    task = "retry a refund with its idempotency key"
    assert engineering_context(project, task)["applicable_rules"] == []
    there = engineering_context(project, task, paths=["shop/refunds.py"])["applicable_rules"]
    assert [rule["id"] for rule in there] == [f"M{memory.pk}"]
    visit(page, said(KEY))
    assert "holds in path shop" in main(page)


def test_a_place_that_is_not_there_is_said_and_what_was_typed_stays(
    page: Page, alice: User
) -> None:
    """A refusal is a sentence beside the form, and nothing typed is lost."""
    tab = window(page, alice)
    visit(tab, said(KEY), "narrow/")
    tab.fill("#wording", EDITED)
    tab.fill("#narrow_to", "nowhere/")
    click(tab, "Promote so")
    assert "Nothing was ever read at nowhere/" in main(tab)
    assert tab.input_value("#wording") == EDITED
    assert not Memory.objects.exists()


def test_a_rule_that_depends_on_context_says_so_to_agents(page: Page, project: Project) -> None:
    """ "Mark context-dependent"."""
    visit(page, said(KEY))
    press(page, "t")
    page.keyboard.type("only while v1 is served")
    press(page, "Enter")
    [rule] = engineering_context(project, "retry a refund with its idempotency key")[
        "applicable_rules"
    ]
    assert rule["depends_on_context"] == "only while v1 is served"


def test_a_twin_is_merged_by_keyboard_and_taken_out_again(page: Page) -> None:
    """ "This candidate's evidence joins another": both say so, and undo takes it out again."""
    visit(page, said(TWIN))
    press(page, "m")
    assert f"C{said(KEY).pk}" in main(page)
    click(page, "Merge")
    assert said(TWIN).state == "SUPERSEDED"
    assert said(KEY).evidence_links.count() == 2
    visit(page, said(KEY))
    assert f"Evidence of C{said(TWIN).pk} joined" in main(page)
    visit(page, said(TWIN))
    assert f"Merged into C{said(KEY).pk}" in main(page)
    press(page, "u")
    assert (said(TWIN).state, said(KEY).evidence_links.count()) == ("PENDING", 1)


def test_another_target_is_named_by_its_number(page: Page, alice: User) -> None:
    """What is not much alike can be named, and is shown before anything is merged."""
    memory = make_memory(said(LEDGER), alice)
    visit(page, said(KEY), "merge/")
    page.fill("#into", f"M{memory.pk}")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert LEDGER.split()[2] in (page.text_content(".targets") or "")
    click(page, "Merge")
    assert memory.evidence_links.count() == 2


def test_what_was_replaced_is_superseded_with_edited_words(
    page: Page, alice: User, project: Project, tmp_path: Path
) -> None:
    """Before and now stand side by side, or one below the other; undo brings the old one back."""
    old = make_memory(said(LIVES.format(90)), alice)
    repo = RepoBuilder(tmp_path / "payments-api")
    repo.write("docs/refunds.md", RULES.format(400))
    repo.commit()
    collect(repo)
    new = said(LIVES.format(400))
    visit(page, new)
    assert page.text_content(".diff ins") == "400"
    with page.expect_navigation():
        page.click("text=Unified")
    assert page.locator(".diff.one del").first.text_content() == "90"
    press(page, "e")
    page.fill("#wording", "Refund keys live for 400 days now.")
    click(page, f"Supersede M{old.pk} so")
    old.refresh_from_db()
    assert (old.state, Memory.objects.get(candidate=new).statement) == (
        "SUPERSEDED", "Refund keys live for 400 days now.",
    )  # fmt: skip
    visit(page, new)
    press(page, "u")
    old.refresh_from_db()
    assert old.state == "ACTIVE"


def test_two_people_make_a_memory_where_the_project_asks_for_it(
    page: Page, alice: User, project: Project
) -> None:
    """ "This project asks for a second reviewer. Marta can promote it." """
    marta = make_person(project, Role.REVIEWER, "marta")
    page.goto("/projects/payments-api/people/")
    with page.expect_navigation():
        page.click("text=Ask for a second reviewer")
    visit(page, said(KEY), "edit/")
    page.fill("#wording", EDITED)
    click(page, "Endorse so")
    assert not Memory.objects.exists()
    visit(page, said(KEY))
    assert "This project asks for a second reviewer. marta can promote it." in main(page)
    assert page.locator(".decide button:has-text('Promote')").count() == 0
    second = window(page, marta)
    visit(second, said(KEY))
    assert "Endorsed by alice" in main(second)
    press(second, "p")
    memory = Memory.objects.get()
    assert (memory.statement, memory.decision.confirms.actor) == (EDITED, actor_of(alice))


def test_the_first_of_two_cannot_be_the_second_in_another_window(
    page: Page, alice: User, project: Project
) -> None:
    """A form that was opened before the endorsement decides nothing."""
    switch_second_reviewer(project, is_on=True, actor=actor_of(alice))
    stale = window(page, alice)
    visit(stale, said(KEY))
    visit(page, said(KEY))
    press(page, "p")
    press(stale, "p")
    assert "changed since you opened it" in main(stale)
    assert (ReviewDecision.objects.count(), Memory.objects.count()) == (1, 0)


def test_a_stale_form_shows_the_difference_and_keeps_what_was_typed(
    page: Page, alice: User
) -> None:
    """ "Changed since you opened it" with the difference, for an edited wording too."""
    tab = window(page, alice)
    visit(tab, said(KEY), "edit/")
    tab.fill("#wording", EDITED)
    visit(page, said(TWIN), "merge/")
    click(page, "Merge")  # into what the other window has open
    click(tab, "Promote so")
    assert "changed since you opened it" in main(tab)
    assert f"Evidence of C{said(TWIN).pk} joined" in main(tab)
    assert "It is also said here now" in main(tab)
    with tab.expect_navigation():
        tab.click("text=Go on with these words")
    assert tab.input_value("#wording") == EDITED
    click(tab, "Promote so")
    assert Memory.objects.get().statement == EDITED
    assert Memory.objects.get().evidence_links.count() == 2


def test_what_it_was_to_join_changed_meanwhile(page: Page, alice: User) -> None:
    """Merging looks at both: a target that changed is named, and nothing is merged."""
    tab = window(page, alice)
    visit(tab, said(TWIN), "merge/")
    Candidate.objects.filter(pk=said(KEY).pk).update(version=5)
    click(tab, "Merge")
    assert "What it was to join changed" in main(tab)
    assert said(TWIN).state == "PENDING"


def test_every_form_works_without_javascript(page: Page, alice: User) -> None:
    """ "It works without JavaScript": edit, narrow, context, merge, and each one's undo."""
    bare = window(page, alice, has_scripts=False)
    for link, field, text in (
        ("Edit", "#wording", EDITED),
        ("Narrow", "#narrow_to", "docs/refunds.md"),
        ("Depends", "#context", "only now"),
    ):
        visit(bare, said(KEY))
        bare.click(f".decide >> text={link}")
        bare.fill(field, text)
        bare.click(".decide >> text=Promote so")
        assert said(KEY).state == "PROMOTED"
        visit(bare, said(KEY))
        bare.click(".decide >> text=Undo")
    visit(bare, said(TWIN))
    bare.click(".decide >> text=Merge")
    bare.click(".decide >> button:has-text('Merge')")
    assert said(TWIN).state == "SUPERSEDED"
    bare.click(".last >> text=Undo")
    assert {said(KEY).state, said(TWIN).state} == {"PENDING"}


@pytest.mark.parametrize("width", [390, 768, 1280, 1440])
def test_no_form_scrolls_sideways(page: Page, width: int) -> None:
    """The page never scrolls sideways, and the form's button is in reach."""
    page.set_viewport_size({"width": width, "height": 844})
    for form in ("", "edit/", "narrow/", "context/", "merge/"):
        visit(page, said(KEY), form)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.locator(".decide button").last.scroll_into_view_if_needed()
        assert page.locator(".decide button").last.is_visible()


def test_escape_leads_back_and_nothing_is_decided(page: Page) -> None:
    """Back, close: Escape leaves the field, then the form."""
    visit(page, said(KEY))
    press(page, "e")
    page.keyboard.type("x")
    page.keyboard.press("Escape")
    press(page, "Escape")
    assert page.locator("#wording").count() == 0
    assert not ReviewDecision.objects.exists()


def test_a_reader_has_no_form_to_decide(page: Page, project: Project) -> None:
    """ "A reader reads": the address of a form shows the page, and sending one is refused."""
    rita = window(page, make_person(project, Role.READER, "rita"))
    visit(rita, said(KEY), "edit/")
    assert rita.locator("#wording").count() == 0
    assert "A reviewer or a lead decides" in main(rita)


CODE = "def issue_refund(order):"
AXE = AXE_FILE_PATH.read_text(encoding="utf-8")
VIOLATIONS = """async () => (await axe.run({resultTypes: ["violations"]})).violations
    .map(one => one.id + ": " + one.nodes.map(node => node.html.slice(0, 120)).join(" | "))"""


def cite_code(project: Project) -> Candidate:
    rest = '\n    return "a" + str(1)  # kept\n'
    path = b"shop/refunds.py"
    return make_candidate(project, CODE, path=path, before="# keys\n\n", after=rest)


def violations(page: Page) -> list[str]:
    page.evaluate(AXE)
    found: list[str] = page.evaluate(VIOLATIONS)
    return found


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_code_targets_and_what_changed(
    page: Page, alice: User, project: Project, scheme: Literal["light", "dark"], width: int
) -> None:
    """Coloured code on a marked ground, a choice of targets, and the answer to a stale form."""
    tab = window(page, alice, width=width)
    tab.emulate_media(color_scheme=scheme)
    visit(tab, cite_code(project))
    assert violations(tab) == []
    visit(tab, said(TWIN), "merge/")
    assert violations(tab) == []
    visit(tab, said(KEY), "edit/")
    tab.fill("#wording", EDITED)
    Candidate.objects.filter(pk=said(KEY).pk).update(version=7, modality="PLAN")
    click(tab, "Promote so")
    assert "What you had typed" in main(tab)
    assert violations(tab) == []


def test_code_in_evidence_is_coloured_in_both_themes(page: Page, project: Project) -> None:
    """Keywords, names and numbers have their own colours, under a strict policy."""
    visit(page, cite_code(project))
    assert page.text_content(".code .kw") == "def"
    colours = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for kind in ("kw", "fn", "nu"):
            read = f"getComputedStyle(document.querySelector('.code .{kind}')).color"
            colours.add(page.evaluate(read))
    assert len(colours) == 6
