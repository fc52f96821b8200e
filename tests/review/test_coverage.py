"""The coverage dashboard: every number opens its rows and equals their count or their sum."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from codememory.candidates import shown_digest
from codememory.models import (
    Candidate,
    Policy,
    Project,
    ReviewDecision,
    Role,
    Run,
    RunState,
    Worktree,
)
from codememory.people import actor_of
from review.coverage.claims import backlog_of
from review.coverage.figures import Where
from review.coverage.proposed import proposed_in
from tests.builders import (
    make_candidate,
    make_memory,
    make_person,
    make_project,
    signed_in,
)
from tests.collected import collect
from tests.repos import RepoBuilder

RULES = "# Refunds\n\n## Rules\n\n- A refund must be booked first.\n- Every refund needs its key.\n"
FIGURE = re.compile(r'<a class="figure[^"]*" href="([^"]+)" data-value="([^"]+)">')
pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    """A collected repository with documents, a secret file, a binary one and a promoted rule."""
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("docs/refunds.md", RULES)
    repo.write("guide.rst", "Guide\n=====\n")
    repo.write("shop/refunds.py", "def refund():\n    return 1\n")
    repo.commit()
    repo.write(".env", "KEY=1\n")
    repo.write("logo.png", b"\x89PNG\x00\x01")
    repo.commit()
    return collect(repo)


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def staff(root: User) -> Client:
    return signed_in(root)


@pytest.fixture
def world(shop: Project, root: User) -> Project:
    """The shop with decisions and a run in every state, beside a project with nothing read."""
    make_memory(Candidate.objects.filter(scope=shop.scope).earliest("pk"), root)
    make_candidate(shop, "A till is counted twice a day.")
    make_project("unread")
    worktree = Worktree.objects.get(scope=shop.scope)
    for state in (RunState.FAILED, RunState.POISONED, RunState.CANCELLED, RunState.QUEUED):
        make_run(worktree, state)
    return shop


def make_run(worktree: Worktree, state: str, source: str = "documents") -> Run:
    return Run.objects.create(
        scope=worktree.scope, worktree=worktree, source=source, state=state, policy_generation=1
    )


def figures(text: str) -> list[tuple[str, str]]:
    return [(html.unescape(href), value) for href, value in FIGURE.findall(text)]


def behind(client: Client, href: str) -> str:
    """What the page behind a number says: its measure if the address asks for one, or its rows."""
    answer = client.get(href)
    assert answer.status_code == 200, href
    wanted = "measure" if "measure=" in href else "rows"
    found = re.search(rf'data-{wanted}="([^"]*)"', answer.content.decode())
    assert found is not None, href
    return found[1]


@pytest.mark.parametrize("address", ["/admin/", "/admin/?project=shop"])
def test_every_number_equals_what_is_behind_its_link(
    world: Project, staff: Client, address: str
) -> None:
    found = figures(staff.get(address).content.decode())
    wrong = [(href, value) for href, value in found if behind(staff, href) != value]
    assert len(found) > 80
    assert wrong == []


def test_every_row_of_a_project_by_table_equals_what_is_behind_it(
    world: Project, staff: Client
) -> None:
    found = figures(staff.get("/admin/database/?project=shop").content.decode())
    assert len(found) > 40
    assert [(h, v) for h, v in found if behind(staff, h) != v] == []


def test_a_lead_sees_the_numbers_of_their_project_and_their_rows(world: Project) -> None:
    lead = signed_in(make_person(world, Role.LEAD, "lea"))
    found = figures(lead.get("/projects/shop/coverage/").content.decode())
    assert len(found) > 50
    assert [(h, v) for h, v in found if behind(lead, h) != v] == []
    assert all(href.startswith("/projects/shop/coverage/rows/") for href, _ in found)


def test_a_number_that_is_no_link_is_said_to_be_derived(world: Project, staff: Client) -> None:
    text = staff.get("/admin/").content.decode()
    main = text[text.index("<main") : text.index('<section class="unrecorded"')]
    plain = re.sub(r"<(svg|title|form)\b.*?</\1>", "", main, flags=re.DOTALL)
    plain = re.sub(r'<a class="figure.*?</a>', "", plain, flags=re.DOTALL)
    plain = re.sub(r'<(\w+)[^>]*class="[^"]*(?:derived|mono)[^"]*".*?</\1>', "", plain)
    plain = re.sub(r'<a class="at path.*?</a>|<time.*?</time>|14 days', "", plain)
    assert re.findall(r"\d[^<]{0,20}", re.sub(r"<[^>]+>", "\n", plain)) == []


def test_queries_do_not_grow_with_projects(world: Project, staff: Client) -> None:
    staff.get("/admin/")  # what is looked up once for a session
    few = queries_of(staff)
    for number in range(5):
        project = make_project(f"more-{number}")
        make_candidate(project)
        make_run(Worktree.objects.get(scope=project.scope), RunState.FAILED)
    assert len(queries_of(staff)) == len(few) < 30


def queries_of(client: Client) -> list[str]:
    with CaptureQueriesContext(connection) as caught:
        client.get("/admin/")
    return [query["sql"] for query in caught.captured_queries]


def test_what_was_not_opted_in_is_said_in_words(world: Project, staff: Client) -> None:
    scope = Project.objects.get(slug="unread").scope
    Policy.objects.create(scope=scope, generation=2, sources=["git"])
    text = staff.get("/admin/?project=unread").content.decode()
    assert "not collected yet" in text
    assert "not opted in" in text


def test_coverage_says_how_much_of_what_is_reachable_was_read(shop: Project, staff: Client) -> None:
    text = re.sub(r"<[^>]+>", "", staff.get("/admin/?project=shop").content.decode())
    assert "2 of 2 commits · 1 gap" in text
    assert "change never read" in text
    assert "1 of 1 documents" in text


def test_the_backlog_of_the_past_is_what_was_open_then(world: Project, root: User) -> None:
    candidate = make_candidate(world, "A refund is never split.")
    now = timezone.now()
    Candidate.objects.update(created_at=now - timedelta(days=5))
    Candidate.objects.filter(pk=candidate.pk).update(state="REJECTED")
    ReviewDecision.objects.create(
        scope=world.scope,
        candidate=candidate,
        action="REJECT",
        reason="no",
        actor=actor_of(root),
        candidate_version=1,
        shown_digest=shown_digest(candidate),
        created_at=now - timedelta(days=2),
    )
    where = Where((world,), "shop", is_staff_page=True)
    points = backlog_of(where, proposed_in(where.scopes)).points
    assert [point.number for point in points] == [0] * 8 + [3, 3, 3, 2, 2, 1]


def test_more_projects_than_a_page_holds_are_turned_over(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("review.coverage.figures.PAGE_PROJECTS", 2)
    monkeypatch.setattr("review.coverage.views.PAGE_PROJECTS", 2)
    for slug in ("ants", "bees", "cats"):
        make_candidate(make_project(slug))
    first, second = (staff.get(f"/admin/?page={page}").content.decode() for page in (1, 2))
    assert ("cats</a>" in first, "cats</a>" in second) == (False, True)
    assert '>3<span class="vh"> open candidates' in first
    assert [staff.get(f"/admin/?page={page}").status_code for page in (3, 0, "x")] == [404] * 3
