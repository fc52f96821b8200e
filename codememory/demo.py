"""The demo: a throw-away project is built, collected, reviewed and asked, all of it for real.

Its database is its own, made a moment before. There, and nowhere else, a DEMO actor may decide.
"""

from __future__ import annotations

import time
from html.parser import HTMLParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from codememory import database, recall
from codememory.collect import follow, request_runs
from codememory.demo_repository import build_repository
from codememory.errors import CodeMemoryError
from codememory.models import (
    Actor,
    ActorKind,
    Candidate,
    CandidateState,
    Membership,
    Memory,
    Project,
    Role,
    RunState,
    Scope,
)
from codememory.projects import register_project
from codememory.status import totals

QUESTION = "Change issue_refund so that a retried refund gets a new idempotency key"
RULE_MODALITIES = ("REQUIREMENT", "DECISION", "CONVENTION")
BACKEND = "django.contrib.auth.backends.ModelBackend"
# Every other database refuses this actor: its constraint says PERSON alone.
LET_THE_DEMO_DECIDE = """
    ALTER TABLE codememory_reviewdecision
        DROP CONSTRAINT decision_by_a_person,
        ADD CONSTRAINT decision_by_a_person CHECK (actor_kind IN ('PERSON', 'DEMO'))
"""


class DemoError(CodeMemoryError):
    """The demo came to an end before its answer."""


def run_demo(question: str) -> dict[str, Any]:
    """Build, collect, promote and ask; returns what happened and the whole answer."""
    started = time.monotonic()
    reviewer = make_reviewer()
    root = settings.CODEMEMORY_HOME / "shop"
    commits = build_repository(root)
    project, _ = register_project(root)
    Membership.objects.create(scope=project.scope, user=reviewer, role=Role.REVIEWER)
    ended = follow([run.pk for run in request_runs(project)])
    if failed := [run for run in ended if run.state != RunState.DONE]:
        raise DemoError(f"collecting failed: {failed[0].error_text or failed[0].error_class}")
    read_at = time.monotonic()
    memory = promote_through_the_form(project, reviewer, best_candidate(project, question))
    return {
        "question": question,
        "project": project.slug,
        "root": str(root),
        "commits": commits,
        "totals": totals(project.scope_id),
        "promoted": {
            "candidate": f"C{memory.candidate_id}",
            "memory": f"M{memory.pk}",
            "statement": memory.statement,
            "decided_by": memory.decision.actor_kind,
        },
        "seconds": {
            "collecting": round(read_at - started, 2),
            "all": round(time.monotonic() - started, 2),
        },
        "answer": recall.engineering_context(project, question),
    }


@transaction.atomic
def make_reviewer() -> User:
    """Make the DEMO actor with its account, and let it decide in this very database.

    Refused in any database but one made for the demo just now, in which there is nothing.
    """
    is_ours = settings.CODEMEMORY_HOME.name == "demo" and not database.is_external()
    if not is_ours or Scope.objects.exists() or User.objects.exists() or Actor.objects.exists():
        raise DemoError("the demo decides in its own new database only: start it by manage.py demo")
    with connection.cursor() as cursor:
        cursor.execute(LET_THE_DEMO_DECIDE)
    user = User.objects.create_user("demo")  # without a password: nobody signs in as it
    Actor.objects.create(kind=ActorKind.DEMO, user=user, name="the demo's reviewer")
    return user


def best_candidate(project: Project, question: str) -> Candidate:
    """The proposed rule that fits the question best, else the first one that was proposed."""
    open_ones = Candidate.objects.filter(
        scope_id=project.scope_id, state=CandidateState.PENDING, modality__in=RULE_MODALITIES
    )
    found = recall.search(project, question, kinds=["candidate"], limit=20)
    by_id = {f"C{candidate.pk}": candidate for candidate in open_ones.order_by("pk")}
    ranked = [by_id[result["id"]] for result in found["results"] if result["id"] in by_id]
    chosen = [*ranked, *by_id.values()]
    if not chosen:
        raise DemoError("no rule was proposed from the demo's documents")
    return chosen[0]


def promote_through_the_form(project: Project, reviewer: User, candidate: Candidate) -> Memory:
    """Do what a reviewer does in a browser: open the page, send its form."""
    client = Client(enforce_csrf_checks=True, SERVER_NAME="127.0.0.1")
    client.force_login(reviewer, backend=BACKEND)
    place = {"slug": project.slug, "number": candidate.pk}
    action = reverse("review:promote", kwargs=place)
    page = client.get(reverse("review:candidate", kwargs=place), secure=settings.HTTPS)
    form = FormFields(action)
    form.feed(page.content.decode())
    answer = client.post(
        action,
        form.fields,
        secure=settings.HTTPS,
        headers={"referer": f"{'https' if settings.HTTPS else 'http'}://127.0.0.1/"},
    )
    memory = Memory.objects.filter(scope_id=project.scope_id, candidate=candidate).first()
    if memory is None:
        raise DemoError(f"the review form answered {answer.status_code} and promoted nothing")
    return memory


class FormFields(HTMLParser):
    """Collects the hidden fields of the form with this action from a page."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._action = action
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "form":
            self._is_inside = (found.get("action") or "").partition("?")[0] == self._action
        elif tag == "input" and self._is_inside and found.get("name"):
            self.fields[found["name"] or ""] = found.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._is_inside = False
