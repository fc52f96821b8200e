"""What every answer carries, whoever gives it: fetched from a real server."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest
from django.conf import settings
from django.test import Client

from codememory import health

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESSES = [
    "/", "/accounts/login/", "/admin/", "/projects/nowhere/review/", "/nothing", "/healthz",
    "/api/v1/projects", "/api/v1/nothing", "/api/schema/", "/mcp", "/static/review/nothing.css",
]  # fmt: skip
INLINE = re.compile(
    r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=[\"']|javascript:", re.IGNORECASE
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_has_the_headers_of_a_careful_server(url: str, address: str) -> None:
    headers = httpx2.get(url + address).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "no-store" in headers["Cache-Control"]


def test_a_page_may_load_its_own_files_and_nothing_else(url: str) -> None:
    policy = httpx2.get(f"{url}/accounts/login/").headers["Content-Security-Policy"]
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert set(allowed.values()) == {"'none'", "'self'"}
    assert allowed["base-uri"] == allowed["frame-ancestors"] == "'none'"


# Django says that it reads the file in a thread.
@pytest.mark.filterwarnings("ignore:StreamingHttpResponse")
def test_a_static_file_may_be_kept(url: str) -> None:
    page = httpx2.get(f"{url}/accounts/login/").text
    address = re.findall(r"href=\"(/static/[^\"]+\.css)\"", page)[0]
    answer = httpx2.get(url + address)
    assert answer.status_code == 200
    assert "no-store" not in answer.headers["Cache-Control"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_no_template_has_anything_inline() -> None:
    folders = [settings.ROOT / "templates", settings.ROOT / "review"]
    pages = [page for folder in folders for page in Path(folder).rglob("*.html")]
    assert pages
    assert [str(page) for page in pages if INLINE.search(page.read_text(encoding="utf-8"))] == []


def test_a_failure_says_nothing_of_itself(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("postgres://app:inner-secret@db/x")

    monkeypatch.setattr(health, "_server", fail)
    answer = httpx2.get(f"{url}/healthz")
    assert answer.status_code == 500
    assert "inner-secret" not in answer.text
    assert "Traceback" not in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("address", ["/nothing", "/projects/nowhere/review/", "/%00", "/..%2f"])
def test_what_is_not_there_tells_no_names(address: str) -> None:
    answer = Client(raise_request_exception=False).get(address)
    text = answer.content.decode()
    assert answer.status_code in {302, 400, 404}
    assert not re.search(r"urlpatterns|django|Traceback|site-packages", text, re.IGNORECASE)
