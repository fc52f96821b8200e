"""`history PATH|SYMBOL`: what happened to a file or a symbol, the newest first."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from codememory.answers import gap_lines, next_line
from codememory.terminal import (
    TerminalCommand,
    add_json,
    add_page,
    add_project,
    asked_project,
    clip,
    count_of,
    table,
    width,
)
from codememory.timeline import history_of

SYMBOLS_SHOWN = 4
QUIET = {"FORMATTING_ONLY": "spacing only", "COMMENT_ONLY": "comments only"}


class Command(TerminalCommand):
    help = (
        "Show every change of a file or symbol, what was undone and restored, and its co-changes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "subject", metavar="PATH|SYMBOL", help="src/a.py, refund, Order.refund, src/a.py:refund"
        )
        add_page(parser, 20)
        add_project(parser)
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        found = history_of(
            asked_project(options["project"]),
            options["subject"],
            limit=options["limit"],
            cursor=options["cursor"],
        )
        self.answer(found, lines_of(found, options["subject"]), as_json=options["json"])


def lines_of(found: dict[str, Any], asked: str) -> list[str]:
    if found["choices"]:
        return _choices(found["choices"], asked)
    if found["subject"] is None:
        return [f"No stored file or symbol is called {asked}."]
    lines = [*_head(found), ""]
    paths = {one["path"] for one in found["names"]}
    for event in found["events"]:
        lines += [*_event(event, is_symbol=bool(found["subject"]["symbol"]), paths=paths), ""]
    lines += _together(found["co_changed"])
    lines += gap_lines(found["gaps"])
    return [*lines, *next_line(found["next"])]


def _choices(choices: list[dict[str, Any]], asked: str) -> list[str]:
    rows = [[choice["ask"], count_of(choice["changes"], "change")] for choice in choices]
    return [f"{asked} could be several symbols; ask for one of them:", *table(rows)]


def _head(found: dict[str, Any]) -> list[str]:
    subject, churn = found["subject"], found["churn"]
    name = f"{subject['symbol']} in {subject['path']}" if subject["symbol"] else subject["path"]
    counted = count_of(churn["changes"], "commit")
    lines = [f"{name}: {counted}, +{churn['added_lines']} -{churn['removed_lines']} lines"]
    for key, word in (("path", "paths"), ("symbol", "names")):
        names = [one[key] for one in found["names"] if one[key]]
        if len(names) > 1:
            lines.append("  " + clip(f"{word}: {' -> '.join(names)}", width() - 2))
    authors = ", ".join(f"{one['name']} ({one['changes']})" for one in found["authors"][:5])
    return [*lines, "  " + clip(f"by {authors}", width() - 2)] if authors else lines


def _event(event: dict[str, Any], *, is_symbol: bool, paths: Collection[str]) -> list[str]:
    more = event["commit_count"] - 1
    shown_by = f" and {more} more" if more > 0 else ""
    day, who = _day(event["author_time"]), event["author_name"]
    size = f"+{event['added_lines']} -{event['removed_lines']}"
    lines = [f"{event['commit'][:12]}{shown_by}  {day}  {event['change']}  {size}  {clip(who, 30)}"]
    lines += [
        f"    {line}" for line in _place(event, paths) if not is_symbol or event["kind"] == "R"
    ]
    lines += [f"    {line}" for line in _origins(event["origins"])]
    lines += [f"    {_symbol(one)}" for one in event["symbols"][:SYMBOLS_SHOWN]]
    if event["symbol_count"] > SYMBOLS_SHOWN:
        lines.append(f"    ... and {event['symbol_count'] - SYMBOLS_SHOWN} more symbols")
    for key, word in (
        ("reverts", "takes back"),
        ("reverted_by", "taken back by"),
        ("restored_by", "restored by"),
    ):
        lines += [f"    {word} {end}" for end in _ends(event[key])]
    if event["evidence_ids"]:
        lines.append("    " + clip(f"evidence {' '.join(event['evidence_ids'])}", width() - 4))
    return lines


def _place(event: dict[str, Any], paths: Collection[str]) -> list[str]:
    """What became of the file as such."""
    if event["kind"] == "T":
        return ["became another kind of file (a link, a submodule or a regular one)"]
    if event["old_path"] == event["new_path"]:
        return [QUIET[event["difference"]]] if event["difference"] in QUIET else []
    if event["new_path"] is None:
        return [f"deleted {event['old_path']}"]
    if event["new_path"] not in paths:
        return [f"renamed to {event['new_path']}; another file has its name since"]
    return ["added" if event["old_path"] is None else f"renamed from {event['old_path']}"]


def _origins(origins: list[dict[str, Any]]) -> list[str]:
    """Where a file came from, unless it is a rename without an edit and without a rival."""
    told = [f"{one['path']} ({one['score']:.0%} alike)" for one in origins]
    if len(origins) > 1:
        word = origins[0]["kind"].lower()
        more = f" or {len(told) - 3} more" if len(told) > 3 else ""
        return [f"a {word} of {' or '.join(told[:3])}{more}: nobody has chosen"]
    return [
        f"a {one['kind'].lower()} of {text}"
        for one, text in zip(origins, told, strict=True)
        if one["kind"] == "COPY" or one["score"] < 1
    ]


def _day(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
    except (OverflowError, ValueError, OSError):  # Git stores any number
        return f"at {seconds}"


def _symbol(one: dict[str, Any]) -> str:
    lines = one["new_lines"] or one["old_lines"]
    at = f" (lines {lines[0]}-{lines[1]})" if lines else ""
    if lines and lines[0] == lines[1]:
        at = f" (line {lines[0]})"
    old = ":".join(part for part in (one["from_path"], one["old_name"]) if part)
    was = f" from {old}" if old else f" to {one['to_path']}" if one["to_path"] else ""
    return f"{one['kind'].lower().replace('_', ' ')} {one['name']}{was}{at}"


def _ends(ends: list[dict[str, Any]]) -> list[str]:
    seen = dict.fromkeys(
        f"{end['commit'][:12]} ({'all of it' if end['is_whole'] else end['level'].lower()})"
        for end in ends
    )
    return list(seen)


def _together(found: list[dict[str, Any]]) -> list[str]:
    if not found:
        return []
    rows = [
        [f"{one['confidence']:.0%}", count_of(one["support"], "time"), _called(one)]
        for one in found
    ]
    return ["Changed together with", *table(rows), ""]


def _called(one: dict[str, Any]) -> str:
    return f"{one['path']}:{one['symbol']}" if one.get("symbol") else str(one["path"])
