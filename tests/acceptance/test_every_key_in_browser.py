"""The page of keys is the only source of keys: a browser presses each of them and sees it act."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from codememory.models import Candidate, CandidateClaim, Memory, Project, ReviewDecision
from codememory.people import create_administrator
from tests.builders import make_memory, make_person
from tests.collected import collect
from tests.repos import RepoBuilder

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOME = "/projects/payments-api"
OLD = "Keys must be kept for 90 days."
NEW = "Keys must be kept for 400 days."
RULES = "# Rules\n\n" + "".join(
    f"- {thing} must be reviewed by two people.\n\n"
    for thing in ("Refunds", "Payouts", "Invoices", "Ledgers", "Vouchers", "Tariffs", "Reports")
)
PLAN = "# Roadmap\n\n## Plan\n\nWe will move refunds to a service of their own.\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Rules, a plan, and a promoted rule of which the document now says something else."""
    repo = RepoBuilder(tmp_path / "payments-api")
    repo.write("docs/keys.md", f"# Keys\n\n{OLD}\n")
    repo.commit()
    project = collect(repo)
    make_memory(Candidate.objects.get(statement=OLD), make_person(project, name="marta"))
    repo.write("docs/keys.md", f"# Keys\n\n{NEW}\n")
    repo.write("docs/rules.md", RULES)
    repo.write("docs/plan.md", PLAN)
    repo.commit()
    return collect(repo)


@pytest.fixture
def page(project: Project, browser_page: Page) -> Iterator[Page]:
    browser_page.goto(create_administrator("root"))
    browser_page.keyboard.type("a longer pass phrase")  # the first field has the focus
    browser_page.keyboard.press("Tab")
    browser_page.keyboard.type("a longer pass phrase")
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_url(f"**{HOME}/review/")
    yield browser_page
    connections.close_all()


def press(page: Page, key: str) -> None:
    """Press a key that leads to another page, and wait for it."""
    with page.expect_navigation():
        page.keyboard.press(key)


def open_rules() -> list[int]:
    """Pending candidates that are neither the plan nor the changed rule, by number."""
    found = Candidate.objects.filter(state="PENDING", modality="REQUIREMENT")
    return list(found.exclude(statement=NEW).order_by("id").values_list("pk", flat=True))


def state(number: int) -> str:
    return Candidate.objects.get(pk=number).state


def at(page: Page) -> str | None:
    return page.get_attribute("li[data-here] input", "value")


def step(page: Page, key: str, number: int) -> None:
    """Press a key that moves in the list, and wait for the pane beside it."""
    page.keyboard.press(key)
    page.wait_for_selector(f"li[data-here][data-number='{number}']")
    page.wait_for_selector(f"#peek article[aria-label='Preview of C{number}']")


def ticked(page: Page) -> int:
    return page.locator(".items input:checked").count()


def moves_down(page: Page) -> None:
    first, second, *_ = open_rules()
    page.goto(f"{HOME}/review/?at={first}")
    step(page, "j", second)
    assert f"at={second}" in page.url


def moves_up(page: Page) -> None:
    first, second, *_ = open_rules()
    page.goto(f"{HOME}/review/?at={second}")
    step(page, "k", first)
    assert f"at={first}" in page.url


def opens(page: Page) -> None:
    number = open_rules()[0]
    page.goto(f"{HOME}/review/?at={number}")
    press(page, "Enter")
    assert f"/candidates/{number}/" in page.url


def goes_back(page: Page) -> None:
    page.goto(f"{HOME}/candidates/{open_rules()[0]}/")
    press(page, "Escape")
    assert page.url.endswith(f"{HOME}/review/")


def searches(page: Page) -> None:
    page.goto(f"{HOME}/review/")
    page.keyboard.press("/")
    page.keyboard.type("ledgers")
    press(page, "Enter")
    assert page.locator(".items .claim").all_text_contents() == [
        "Ledgers must be reviewed by two people."
    ]


def shows_keys(page: Page) -> None:
    page.goto(f"{HOME}/review/")
    press(page, "?")
    assert page.text_content("h1") == "Keys"


def promotes(page: Page) -> None:
    number = open_rules()[0]
    page.goto(f"{HOME}/candidates/{number}/")
    press(page, "p")
    assert Memory.objects.get(candidate=number).state == "ACTIVE"


def keeps_a_plan(page: Page) -> None:
    plan = Candidate.objects.get(modality="PLAN")
    page.goto(f"{HOME}/candidates/{plan.pk}/")
    press(page, "l")
    assert Memory.objects.get(candidate=plan).decision_action == "PROMOTE_AS_PLAN"


def supersedes(page: Page) -> None:
    page.goto(f"{HOME}/candidates/{Candidate.objects.get(statement=NEW).pk}/")
    press(page, "s")
    assert Memory.objects.get(statement=OLD).state == "SUPERSEDED"
    assert Memory.objects.get(statement=NEW).state == "ACTIVE"


def rejects(page: Page) -> None:
    number = open_rules()[0]
    page.goto(f"{HOME}/candidates/{number}/")
    page.keyboard.press("r")
    page.keyboard.type("not ours")
    press(page, "Enter")
    assert state(number) == "REJECTED"


def defers(page: Page) -> None:
    number = open_rules()[0]
    page.goto(f"{HOME}/candidates/{number}/")
    press(page, "d")
    assert state(number) == "DEFERRED"


def takes_back(page: Page) -> None:
    number = ReviewDecision.objects.exclude(action="UNDO").latest("id").candidate_id
    page.goto(f"{HOME}/review/")
    press(page, "u")
    assert state(number) == "PENDING"


def selects(page: Page) -> None:
    first, second, *_ = open_rules()
    page.goto(f"{HOME}/review/?at={first}")
    page.keyboard.press("x")
    assert ticked(page) == 1
    step(page, "j", second)
    page.keyboard.press("x")
    assert ticked(page) == 2
    page.keyboard.press("x")
    assert ticked(page) == 1


def selects_up_to_here(page: Page) -> None:
    first, _, third, *_ = open_rules()
    page.goto(f"{HOME}/review/?c={first}&at={third}")
    press(page, "Shift+X")
    assert (ticked(page), at(page)) == (3, str(third))


def _several(page: Page, key: str) -> list[int]:
    """Open the preview for the first rule that is open."""
    chosen = open_rules()[:1]
    page.goto(f"{HOME}/review/?c={chosen[0]}")
    press(page, key)
    assert (page.text_content("h1") or "").endswith(" 1?")
    return chosen


def promotes_several(page: Page) -> None:
    chosen = _several(page, "Shift+P")
    press(page, "p")
    assert [state(number) for number in chosen] == ["PROMOTED"]


def rejects_several(page: Page) -> None:
    chosen = _several(page, "Shift+R")
    page.keyboard.press("r")
    page.keyboard.type("said twice")
    press(page, "Enter")
    assert [state(number) for number in chosen] == ["REJECTED"]


def defers_several(page: Page) -> None:
    chosen = _several(page, "Shift+D")
    press(page, "d")
    assert [state(number) for number in chosen] == ["DEFERRED"]
    press(page, "u")
    assert [state(number) for number in chosen] == ["PENDING"]


def claims_and_releases(page: Page) -> None:
    number = open_rules()[0]
    page.goto(f"{HOME}/review/?at={number}")
    press(page, "c")
    assert CandidateClaim.objects.get().candidate_id == number
    press(page, "c")
    assert not CandidateClaim.objects.exists()


def _goes(page: Page, key: str, heading: str) -> None:
    page.goto("/projects/payments-api/people/")
    page.keyboard.press("g")
    press(page, key)
    assert heading in (page.text_content("h1") or "")


def goes_to_the_queue(page: Page) -> None:
    _goes(page, "q", "Open candidates")


def goes_to_what_was_decided(page: Page) -> None:
    _goes(page, "d", "Audit")


def goes_to_the_knowledge(page: Page) -> None:
    _goes(page, "k", "Knowledge")


def _form(page: Page, key: str, part: str) -> None:
    number = open_rules()[0]
    page.goto(f"{HOME}/candidates/{number}/")
    press(page, key)
    assert f"/candidates/{number}/{part}" in page.url


def edits(page: Page) -> None:
    _form(page, "e", "edit")


def narrows(page: Page) -> None:
    _form(page, "n", "narrow")


def says_on_what_it_depends(page: Page) -> None:
    _form(page, "t", "context")


def merges(page: Page) -> None:
    _form(page, "m", "merge")


EFFECTS: dict[str, Callable[[Page], None]] = {
    "j": moves_down,
    "k": moves_up,
    "Enter": opens,
    "Escape": goes_back,
    "/": searches,
    "?": shows_keys,
    "p": promotes,
    "l": keeps_a_plan,
    "s": supersedes,
    "r": rejects,
    "d": defers,
    "u": takes_back,
    "x": selects,
    "c": claims_and_releases,
    "e": edits,
    "n": narrows,
    "t": says_on_what_it_depends,
    "m": merges,
    "g q": goes_to_the_queue,
    "g d": goes_to_what_was_decided,
    "g k": goes_to_the_knowledge,
    "Shift+X": selects_up_to_here,
    "Shift+P": promotes_several,
    "Shift+R": rejects_several,
    "Shift+D": defers_several,
}


def test_every_key_of_the_page_of_keys_does_what_it_says(page: Page) -> None:
    """Everything works by keyboard."""
    page.goto("/keys/")
    keys = [kbd.get_attribute("data-key") or "" for kbd in page.locator("[data-key]").all()]
    assert set(keys) == set(EFFECTS)
    for key in keys:
        EFFECTS[key](page)


def tab_to(page: Page, selector: str) -> None:
    """Reach a control by Tab alone."""
    for _ in range(60):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


def test_people_and_audit_work_by_keyboard(page: Page, project: Project) -> None:
    """Roles are given, and the trail is filtered, without a mouse."""
    make_person(name="carol")
    page.goto(f"{HOME}/people/")
    tab_to(page, "#name")
    page.keyboard.type("carol")
    press(page, "Enter")
    assert "Added carol as a reader." in (page.text_content("main") or "")
    page.goto(f"{HOME}/audit/")
    tab_to(page, "#f-action")
    page.keyboard.type("member.add")
    tab_to(page, "form.audit-filters button")
    press(page, "Enter")
    assert page.locator("tbody tr").count() == 1


def test_all_of_it_works_without_javascript(page: Page) -> None:
    """Filters, a selection, its preview, superseding, a role: forms and links alone."""
    browser = page.context.browser
    assert browser is not None
    bare = browser.new_page(
        java_script_enabled=False,
        storage_state=page.context.storage_state(),
        viewport={"width": 1440, "height": 900},
        base_url=page.url.partition("/projects")[0],
    )
    bare.goto(f"{HOME}/review/")
    bare.click("nav.rail >> text=docs/rules.md")
    bare.check(".items li:nth-child(1) input")
    bare.check(".items li:nth-child(3) input")
    bare.click("button:has-text('Defer…')")
    bare.fill("#reason", "after the audit")
    bare.click("button:has-text('Defer 2')")
    assert Candidate.objects.filter(state="DEFERRED").count() == 2
    bare.click("button:has-text('Undo all 2')")
    assert not Candidate.objects.filter(state="DEFERRED").exists()
    bare.goto(f"{HOME}/candidates/{Candidate.objects.get(statement=NEW).pk}/")
    bare.click("button:has-text('Supersede')")
    assert Memory.objects.get(state="ACTIVE").statement == NEW
    bare.goto(f"{HOME}/people/")
    bare.select_option("select >> nth=0", "LEAD")
    bare.click("button:has-text('Save')")
    assert "marta is now a lead." in (bare.text_content("main") or "")
