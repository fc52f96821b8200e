"""`list KIND`: the stored rows of one kind, page by page."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from codememory import listing
from codememory.answers import next_line
from codememory.terminal import (
    RefusedError,
    TerminalCommand,
    add_json,
    add_page,
    add_project,
    asked_project,
    clip,
    table,
)


class Command(TerminalCommand):
    help = (
        "List documents, changes by file, document segments, candidates, memories or gaps: what "
        "exists and was not read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=listing.KINDS)
        parser.add_argument("--path", metavar="P", help="only rows of this path")
        parser.add_argument(
            "--reason",
            action="append",
            choices=listing.GAP_REASONS,
            metavar="R",
            help="only gaps with this reason, such as EXCLUDED; may be repeated",
        )
        add_page(parser, 50)
        add_project(parser)
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        kind = options["kind"]
        if options["reason"] and kind != "gaps":
            raise RefusedError("--reason is for `list gaps`: nothing else has one")
        found = listing.list_rows(
            asked_project(options["project"]),
            kind,
            path=options["path"],
            limit=options["limit"],
            cursor=options["cursor"],
            kept={"reason": options["reason"] or []},
        )
        rows = table([SHOW[kind](row) for row in found["rows"]])
        lines = [*(rows or [f"No {kind} are stored here."]), *next_line(found["next"])]
        self.answer(found, lines, as_json=options["json"])


def _document(row: dict[str, Any]) -> list[object]:
    note = "instructions for agents" if row["is_instruction_file"] else ""
    return [row["id"], f"{row['size']:,} bytes", (row["object_id"] or "")[:12], row["path"], note]


def _change(row: dict[str, Any]) -> list[object]:
    old, new = row["old_path"], row["new_path"]
    path = f"{old} -> {new}" if old and new and old != new else new or old
    what = row["path_class"] if row["path_class"] != "NORMAL" else row["content_class"] or ""
    ids = row["evidence_ids"]
    cited = " ".join(ids[:3]) + (f" +{len(ids) - 3}" if len(ids) > 3 else "")
    return [row["id"], row["logical_change"], row["commit"][:12], row["kind"], what, path, cited]


def _segment(row: dict[str, Any]) -> list[object]:
    first, last = row["line_range"]
    heading = " > ".join(row["heading_path"])
    return [row["id"], row["kind"], f"{row['path']}:{first}-{last}", clip(heading, 60)]


def _claim(row: dict[str, Any]) -> list[object]:
    cited = " ".join(row["evidence_ids"][:3])
    return [row["id"], row["state"], row["modality"], clip(row["statement"], 76), cited]


def _gap(row: dict[str, Any]) -> list[object]:
    named = [("object", row["object_id"]), ("commit", row["commit"])]
    ids = [f"{name} {oid[:12]}" for name, oid in named if oid]
    return [
        row["id"],
        row["reason"],
        row["source"],
        row["path"] or "",
        row["detail"],
        " ".join(ids),
    ]


SHOW = {
    "documents": _document,
    "changes": _change,
    "segments": _segment,
    "candidates": _claim,
    "memories": _claim,
    "gaps": _gap,
}
