"""The policy page: everybody in a project reads it, a lead changes it after a preview."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from codememory.models import AuditEvent, Project, Role, Run
from codememory.policies import newest_policy, set_policy, values_of
from tests.builders import make_person, signed_in
from tests.collected import collect
from tests.repos import RepoBuilder

POLICY = "/projects/payments-api/policy/"


class _Fields(HTMLParser):
    """The fields of a page's first form with one, as a browser would send them."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: dict[str, str] = {}
        self._area: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        name = named.get("name")
        if tag == "textarea" and name:
            self._area = name
            self.sent[name] = ""
        if tag != "input" or not name or name == "csrfmiddlewaretoken":
            return
        is_choice = named.get("type") in {"radio", "checkbox"}
        if not is_choice or "checked" in named:
            self.sent[name] = named.get("value") or ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.sent[self._area] += data.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = None


def fields_in(answer: Any) -> dict[str, str]:
    parser = _Fields()
    parser.feed(answer.content.decode())
    return parser.sent


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "payments-api")
    repo.write("private/keys.py", "quota = 1\n")
    repo.write("private/rules.md", "# Rules\n\nEvery refund must be booked first.\n")
    repo.write("public/a.py", "x = 1\n")
    repo.commit()
    return repo


@pytest.fixture
def project(db: None, repo: RepoBuilder) -> Project:
    return collect(repo)


@pytest.fixture
def lena(project: Project) -> User:
    return make_person(project, Role.LEAD, "lena")


@pytest.fixture
def lead(lena: User) -> Client:
    return signed_in(lena)


def typed(client: Client, **changes: str) -> dict[str, str]:
    return {**fields_in(client.get(POLICY)), **changes}


def test_a_lead_previews_to_the_path(lead: Client, project: Project) -> None:
    answer = lead.post(f"{POLICY}preview", typed(lead, exclude="private/"))
    shown = answer.content.decode()
    assert all(f"<li>{path}</li>" in shown for path in ("private/keys.py", "private/rules.md"))
    assert "public/a.py" not in shown
    assert newest_policy(project).generation == 1


def test_the_preview_counts_what_is_no_longer_served(lead: Client) -> None:
    shown = lead.post(f"{POLICY}preview", typed(lead, exclude="private/")).content.decode()
    assert "No longer served" in shown
    assert "<b>1</b> candidate " in shown


def test_a_lead_confirms_what_was_previewed(lead: Client, lena: User, project: Project) -> None:
    preview = lead.post(f"{POLICY}preview", typed(lead, exclude="private/\n!private/keys.py"))
    answer = lead.post(f"{POLICY}confirm", fields_in(preview))
    row = newest_policy(project)
    assert answer.status_code == 302
    assert (row.generation, row.exclude) == (2, ["private/", "!private/keys.py"])
    event = AuditEvent.objects.get(action="policy.set")
    assert event.actor is not None
    assert (event.actor.user, event.facts["by"]) == (lena, "console")


def test_what_is_confirmed_is_queued_to_be_read(lead: Client) -> None:
    preview = lead.post(f"{POLICY}preview", typed(lead, exclude="private/"))
    shown = lead.post(f"{POLICY}confirm", fields_in(preview), follow=True).content.decode()
    queued = Run.objects.filter(state="QUEUED", policy_generation=2)
    assert {run.source for run in queued} == {"git", "documents"}
    assert "Generation 2 holds from now on." in shown


def test_an_unchanged_form_changes_nothing(lead: Client, project: Project) -> None:
    answer = lead.post(f"{POLICY}preview", typed(lead))
    assert "there is nothing to change" in answer.content.decode()
    lead.post(f"{POLICY}confirm", typed(lead))
    assert newest_policy(project).generation == 1


def test_every_key_can_be_typed(lead: Client, project: Project) -> None:
    changes = {
        "source-documents": "disabled",
        "include": "public/\nprivate/",
        "untracked": "on",
        "max_blob_bytes": "1MiB",
        "excerpt_bytes": "1KiB",
        "disk_bytes": "5GB",
        "audit_days": "365",
    }
    lead.post(f"{POLICY}confirm", typed(lead, **changes))
    row = newest_policy(project)
    assert (row.sources, row.include, row.untracked) == (["git"], ["public/", "private/"], True)
    numbers = (row.max_blob_bytes, row.excerpt_bytes, row.disk_bytes, row.audit_days)
    assert numbers == (1 << 20, 1024, 5_000_000_000, 365)


def test_a_wrong_value_is_marked_and_what_was_typed_stays(lead: Client, project: Project) -> None:
    form = typed(lead, exclude="a/\n#b", max_blob_bytes="huge")
    answer = lead.post(f"{POLICY}preview", form)
    shown = answer.content.decode()
    assert answer.status_code == 422
    assert shown.count('aria-invalid="true"') == 2
    assert fields_in(answer)["exclude"] == "a/\n#b"


def test_who_was_slower_is_told_what_the_other_changed(lead: Client, project: Project) -> None:
    form = typed(lead, exclude="mine/")
    values = {**values_of(newest_policy(project)), "exclude": ["theirs/"]}
    set_policy(project, values, opened=1, actor=None)
    for step in ("preview", "confirm", "edit"):
        answer = lead.post(f"{POLICY}{step}", form)
        shown = answer.content.decode()
        assert answer.status_code == 409
        assert "exclude: + theirs/" in shown
    assert newest_policy(project).exclude == ["theirs/"]
    assert fields_in(answer)["exclude"] == "mine/"


def test_editing_again_keeps_what_was_typed(lead: Client) -> None:
    preview = lead.post(f"{POLICY}preview", typed(lead, exclude="private/"))
    again = lead.post(f"{POLICY}edit", fields_in(preview))
    assert fields_in(again)["exclude"] == "private/"


@pytest.mark.parametrize("role", [Role.READER, Role.REVIEWER])
def test_others_read_it_and_change_nothing(project: Project, lena: User, role: Role) -> None:
    form = typed(signed_in(lena), exclude="private/")
    client = signed_in(make_person(project, role, "other"))
    shown = client.get(POLICY)
    assert shown.status_code == 200
    assert "<form" not in shown.content.decode().split("<main", 1)[1]
    for step in ("preview", "edit", "confirm"):
        assert client.post(f"{POLICY}{step}", form).status_code == 403
    assert newest_policy(project).generation == 1


def test_for_bob_there_is_no_such_page(project: Project, lead: Client) -> None:
    client = signed_in(make_person(name="bob"))
    assert client.get(POLICY).status_code == 404
    assert client.post(f"{POLICY}confirm", typed(lead)).status_code == 404


@pytest.mark.parametrize("changes", [{"opened": "x"}, {"source-git": "on"}, {"exclude": "a\0b"}])
def test_a_form_that_is_not_ours_is_a_bad_request(lead: Client, changes: dict[str, str]) -> None:
    assert lead.post(f"{POLICY}preview", typed(lead, **changes)).status_code == 400


def test_paths_are_shown_escaped(lead: Client, repo: RepoBuilder) -> None:
    repo.write("private/<b>\u202e.py", "x\n")
    repo.commit()
    shown = lead.post(f"{POLICY}preview", typed(lead, exclude="private/")).content.decode()
    assert "<b>\u202e" not in shown
    assert "&lt;b&gt;" in shown


def test_the_page_lists_its_generations(lead: Client, project: Project) -> None:
    values = {**values_of(newest_policy(project)), "exclude": ["drafts/"]}
    set_policy(project, values, opened=1, actor=None)
    shown = lead.get(POLICY).content.decode()
    assert "exclude: + drafts/" in shown
    assert "from the command line" in shown
