"""Keys come from one list: pages take them from it, and its page says all of them."""

from __future__ import annotations

import re
from pathlib import Path

from django.test import Client

from review.shortcuts import GROUPS, SHORTCUTS
from tests.builders import make_person, signed_in

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


def texts() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in TEMPLATES.rglob("*.html"))


def test_no_template_names_a_key_itself() -> None:
    assert "aria-keyshortcuts" not in texts()


def test_every_key_is_used_by_some_page() -> None:
    used = set(re.findall(r'{% shortcut "(\w+)" %}', texts()))
    assert used == set(SHORTCUTS)


def test_no_key_has_two_meanings() -> None:
    keys = [shortcut.key for _, group in GROUPS for shortcut in group]
    assert len(set(keys)) == len(keys)


def test_the_page_of_keys_says_every_one(db: None) -> None:
    client: Client = signed_in(make_person())
    page = client.get("/keys/").content.decode()
    assert set(re.findall(r'data-key="([^"]+)"', page)) == {s.key for s in SHORTCUTS.values()}
