"""Every page in a real browser under axe-core: no violation in light or dark, wide or narrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_FILE_PATH  # type: ignore[import-untyped]
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connections
from django.urls import URLPattern, URLResolver, get_resolver

from codememory.models import Candidate, FileChange, Project, Role, Run, SourceRevision, Worktree
from codememory.people import create_administrator
from codememory.tokens import create_token
from tests.builders import PASSWORD, make_memory, make_person
from tests.repos import RepoBuilder
from tests.review.explored import changes_of, make_shop

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser

AXE = AXE_FILE_PATH.read_text(encoding="utf-8")
# A theme, a width, and the rules: a theme changes colours alone, a width all else and hardly those.
Look = tuple[Literal["light", "dark"], int, Literal["all", "colours", "the rest"]]
# Each page is looked at with all rules, at the other width, and in the other theme there; every
# other page the other way round: what stands on all of them is seen at each width in each theme.
LOOKS: tuple[tuple[Look, ...], ...] = (
    (("light", 1440, "all"), ("light", 390, "the rest"), ("dark", 390, "colours")),
    (("dark", 1440, "all"), ("dark", 390, "the rest"), ("light", 390, "colours")),
)
RUN = """async rules => {
  const options = {resultTypes: ["violations"], preload: false, elementRef: false};
  const colours = ["color-contrast", "link-in-text-block"];
  if (rules === "colours") options.runOnly = colours;
  if (rules === "the rest")
    options.rules = Object.fromEntries(colours.map(rule => [rule, {enabled: false}]));
  const found = await axe.run(document, options);
  const nodes = v => v.nodes.map(n => n.html.slice(0, 160)).join(" | ");
  return found.violations.map(v => `${v.id}: ${nodes(v)}`);
}"""
SLUG = "/projects/shop"
# The addresses of each page by the name of its pattern; a pattern without one fails a test below.
PAGES: dict[str, list[str]] = {
    "review:projects": ["/projects/"],
    "review:keys": ["/keys/"],
    "review:queue": [
        f"{SLUG}/review/",
        f"{SLUG}/review/?state=any",
        f"{SLUG}/review/?q=nothing+has+these+words",
    ],
    "review:bulk": [f"{SLUG}/review/bulk/?action=promote&c={{candidate}}"],
    "review:whole_audit": ["/audit/"],
    "review:audit": [f"{SLUG}/audit/", f"{SLUG}/audit/?action=none.such"],
    "review:coverage": [f"{SLUG}/coverage/"],
    "review:coverage_verdicts": [f"{SLUG}/coverage/verdicts/"],
    "review:coverage_disk": [f"{SLUG}/coverage/disk/"],
    "review:coverage_rows": [f"{SLUG}/coverage/rows/run/"],
    "review:policy": [f"{SLUG}/policy/"],
    "review:policy_edit": [f"{SLUG}/policy/edit"],
    "review:people": [f"{SLUG}/people/"],
    "review:tokens": [f"{SLUG}/tokens/", f"{SLUG}/tokens/?end={{token}}"],
    "review:history": [
        f"{SLUG}/history/",
        f"{SLUG}/history/?subject=till.py",
        f"{SLUG}/history/?subject=till.py:Till.open",
        f"{SLUG}/history/?subject=nowhere.py",
    ],
    "review:change": [
        f"{SLUG}/changes/L{{change}}/",
        f"{SLUG}/changes/L{{change}}/?view=unified",
        f"{SLUG}/changes/L{{hostile}}/",
    ],
    "review:document": [f"{SLUG}/documents/D{{document}}/"],
    "review:evidence": [f"{SLUG}/evidence/A{{content}}.1/"],
    "review:knowledge": [
        f"{SLUG}/knowledge/?verdict=UNKNOWN",
        f"{SLUG}/knowledge/?q=light&why=L{{change}}",
    ],
    "review:ask": [f"{SLUG}/ask/", f"{SLUG}/ask/?task=book+a+refund"],
    "review:renames": [f"{SLUG}/renames/"],
    "review:more": [f"{SLUG}/more/"],
    "review:candidate": [
        f"{SLUG}/candidates/{{candidate}}/",
        f"{SLUG}/candidates/{{decided}}/",
    ],
    "review:edit": [f"{SLUG}/candidates/{{candidate}}/edit/"],
    "review:narrow": [f"{SLUG}/candidates/{{candidate}}/narrow/"],
    "review:context": [f"{SLUG}/candidates/{{candidate}}/context/"],
    "review:merge": [f"{SLUG}/candidates/{{candidate}}/merge/"],
    "review:account": ["/accounts/"],
    "review:login": ["/accounts/login/"],
    "review:start": ["{link}"],
    "admin:index": ["/admin/", "/admin/?project=shop"],
    "admin:verdicts": ["/admin/verdicts/?project=shop"],
    "admin:database": ["/admin/database/", "/admin/database/?project=shop"],
    "admin:auth_user_changelist": ["/admin/auth/user/"],
    "admin:auth_user_add": ["/admin/auth/user/add/"],
    "admin:auth_user_change": ["/admin/auth/user/{user}/change/"],
    "admin:auth_user_password_change": ["/admin/auth/user/{user}/password/"],
}
SIGNED_OUT = {"review:login", "review:start"}
# Answers without a page of their own: forms that lead elsewhere, files, parts of other pages, and
# what Django's admin registers and this one refuses or sends on.
NO_PAGE = {
    "review:claim", "review:confirm", "review:view_as", "review:pane", "review:save_filter",
    "review:forget_filter", "review:second_reviewer",
    "review:home", "review:status", "review:project_status", "review:audit_file",
    "review:whole_audit_file", "review:bulk_undo", "review:coverage_retry",
    "review:coverage_cancel",
    "review:make_token", "review:end_token", "review:policy_preview", "review:policy_confirm",
    "review:add_member", "review:change_member",
    "review:remove_member", "review:settle_rename", "review:promote", "review:promote_as_plan",
    "review:supersede", "review:reject", "review:defer", "review:undo", "review:logout",
    "review:switch_keys", "admin:retry_run", "admin:cancel_run", "admin:login", "admin:logout",
    "admin:password_change", "admin:password_change_done", "admin:autocomplete", "admin:jsi18n",
    "admin:view_on_site", "admin:app_list", "admin:auth_user_history", "admin:auth_user_delete",
}  # fmt: skip
OF_A_TABLE = re.compile(r"admin:codememory_[a-z]+_(changelist|change|add|delete|history)")


@dataclass(slots=True)
class Watched:
    """A page whose console and requests are written down."""

    page: Page
    base: str
    wrong: list[str] = field(default_factory=list)
    seen: int = 0

    def __post_init__(self) -> None:
        host = urlsplit(self.base).netloc
        self.page.on("request", lambda each: self._asked(each.url, host))

    def _asked(self, url: str, host: str) -> None:
        if urlsplit(url).netloc != host:
            self.wrong.append(f"asked another host: {url}")

    def check(self, address: str, *, status: int = 200, is_one_of_many: bool = False) -> None:
        """Open an address and look at it; one page of a template of many in one look alone."""
        if status != 200:  # the browser writes an error line of its own for any other
            self.page.route(f"**{address}", lambda route: _as_good(route, status))
        answer = self.page.goto(address)
        told = answer.status if answer else 0
        if told != 200:
            self.wrong.append(f"{address}: answered {told}")
        self.page.evaluate(AXE)
        self.seen += 1
        looks = LOOKS[self.seen % len(LOOKS)]
        if is_one_of_many:
            looks = (looks[0], (*looks[2][:2], "all"))[self.seen // 2 % 2 :][:1]
        for theme, width, rules in looks:
            # Without motion colours change at once; a fade is no violation.
            self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            self.page.set_viewport_size({"width": width, "height": 900})
            for found in self.page.evaluate(RUN, rules):
                self.wrong.append(f"{address} {theme} {width}: {found}")


def _as_good(route: Route, expected: int) -> None:
    """Hand an error's page to the browser as if all were well."""
    answer = route.fetch()
    route.fulfill(response=answer, status=200 if answer.status == expected else 599)


@pytest.fixture
def shop(transactional_db: None, tmp_path: Path) -> Project:
    """A collected repository with a decided candidate, a reader and an administrator."""
    del transactional_db
    project = make_shop(RepoBuilder(tmp_path / "shop"))
    make_person(project, Role.READER, "ann")
    root = User.objects.create_superuser("root", password=PASSWORD)
    make_memory(Candidate.objects.earliest("pk"), root)
    return project


@pytest.fixture
def watched(browser_page: Page, shop: Project) -> Iterator[Watched]:
    del shop
    browser_page.goto("/accounts/login/")
    yield Watched(browser_page, browser_page.url)
    connections.close_all()  # Django keeps them by event loop, and this one's ends now


def numbers_of(project: Project) -> dict[str, Any]:
    change = changes_of(project, "till.py")[1]
    return {
        "candidate": Candidate.objects.latest("pk").pk,
        "decided": Candidate.objects.earliest("pk").pk,
        "change": change.pk,
        "hostile": changes_of(project, "greet.py")[0].pk,
        "content": change.file_changes.earliest("pk").content_change_id,
        "document": SourceRevision.objects.filter(kind="documents").earliest("pk").pk,
        "user": User.objects.get(username="ann").pk,
        "token": create_token("bot", [project], ["read"])[0].pk,
        "link": create_administrator("root"),
    }


def addresses(project: Project, *, signed_out: bool) -> list[str]:
    numbers = numbers_of(project)
    names = sorted(PAGES.keys() & SIGNED_OUT if signed_out else PAGES.keys() - SIGNED_OUT)
    return [address.format(**numbers) for name in names for address in PAGES[name]]


def table_addresses() -> list[str]:
    """The rows of each table under /admin/, and one row of every other kind of page."""
    lists = [
        f"/admin/codememory/{model._meta.model_name}/"
        for model in apps.get_app_config("codememory").get_models()
    ]
    rows = [
        f"/admin/codememory/{model._meta.model_name}/{row.pk}/change/"
        for model in (Run, Worktree, FileChange, Candidate)
        if (row := model._default_manager.first())
    ]
    return [*lists, *rows]


def sign_in(page: Page) -> None:
    page.goto("/accounts/login/")
    page.fill("input[name=username]", "root")
    page.fill("input[name=password]", PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_no_page_has_a_violation_an_error_or_a_foreign_request(
    watched: Watched, shop: Project
) -> None:
    """axe-core finds nothing; the console stays empty (the page's fixture fails otherwise)."""
    for address in addresses(shop, signed_out=True):
        watched.check(address)
    sign_in(watched.page)
    for address in addresses(shop, signed_out=False):
        watched.check(address)
    for address in table_addresses():
        watched.check(address, is_one_of_many=True)
    watched.check("/projects/none/", status=404)
    watched.check(f"{SLUG}/review/?state=none", status=400)
    assert watched.wrong == []


def patterns(found: list[Any], prefix: str = "") -> Iterator[str]:
    for each in found:
        if isinstance(each, URLResolver):
            name = f"{each.namespace}:" if each.namespace else prefix
            yield from patterns(each.url_patterns, name)
        elif isinstance(each, URLPattern) and each.name and prefix in {"review:", "admin:"}:
            yield f"{prefix}{each.name}"


def test_every_page_has_a_case() -> None:
    """A page that is added is looked at, or said to be none."""
    names = {name for name in patterns(get_resolver().url_patterns) if not OF_A_TABLE.match(name)}
    assert names - PAGES.keys() - NO_PAGE == set()
    assert (PAGES.keys() | NO_PAGE) - names == set()
