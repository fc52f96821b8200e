"""What commands print: nothing collected can command the terminal, and a yes is really one."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from codememory import terminal
from codememory.terminal import ProgressLine, RefusedError, TerminalCommand
from tests.builders import make_project


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("bell\x07 and\r return", "bell\\x07 and\\x0d return"),
        ("left\u202eright", "left\\u202eright"),
        ("\x9b31m", "\\x9b31m"),
        ("half \udc80", "half \\udc80"),
        ("zero\u200bwidth\u2060", "zero\\u200bwidth\\u2060"),
        ("soft\xadhyphen, tag \U000e0041", "soft\\xadhyphen, tag \\U000e0041"),
        ("ne\u200cmi\u200dsha \u2764\ufe0f", "ne\u200cmi\u200dsha \u2764\ufe0f"),
        ("ığüş 漢字\n\tkept", "ığüş 漢字\n\tkept"),
    ],
)
def test_what_a_terminal_would_obey_is_made_visible(text: str, shown: str) -> None:
    assert terminal.visible(text) == shown


@pytest.mark.parametrize(
    "text", ["\x1b[0m", "\u202e", "\u200b", "\U000e0041", "\x9b", "\udc80", "ığ漢", 'quo"te\\']
)
def test_json_is_safe_to_print_and_means_the_same(text: str) -> None:
    printed = terminal.to_json({"text": text})
    assert terminal.visible(printed) == printed
    assert json.loads(printed) == {"text": text}


def test_columns_are_aligned() -> None:
    assert terminal.table([["a", 1200], ["long", 7]], right=" r") == ["a     1,200", "long      7"]


def test_times_and_sizes_read_well() -> None:
    assert [terminal.in_time(s) for s in (0.2, 59, 600, 9000)] == ["1 s", "59 s", "10 min", "2.5 h"]
    assert [terminal.in_bytes(b) for b in (5, 2_000_000, 3e9)] == ["5 B", "2 MB", "3.0 GB"]


def test_progress_is_rewritten_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    line = ProgressLine()
    line.show("one")
    line.show("two", is_last=True)
    assert screen.getvalue() == "\r\x1b[Kone\r\x1b[Ktwo\n"


def test_progress_is_plain_lines_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    for text in ("one", "two", "three"):
        line.show(text, is_last=text == "three")
    assert capsys.readouterr().err == "one\nthree\n"


@pytest.mark.parametrize(("typed", "is_yes"), [("y\n", True), ("YES\n", True), ("\n", False)])
def test_a_yes_is_typed_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, typed: str, *, is_yes: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert TerminalCommand().confirm("Go on?", is_given=False) is is_yes


def test_a_name_must_be_typed_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("shoq\n"))
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert not TerminalCommand().confirm("Type shop:", is_given=False, expected="shop")


def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(RefusedError, match="--yes"):
        TerminalCommand().confirm("Go on?", is_given=False)


@pytest.mark.parametrize(("number", "more"), [(5, False), (7, True)])
def test_a_refusal_names_five_projects_and_counts_the_others(
    db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int, *, more: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for each in range(number):
        make_project(f"p{each}")
    with pytest.raises(RefusedError) as refused:
        terminal.asked_project(None)
    assert str(refused.value).endswith(" p4, ... and 2 more)") is more
