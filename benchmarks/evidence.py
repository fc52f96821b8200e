"""Is evidence what git itself gives? Random ids of a collected repository against stock git.

    python benchmarks/evidence.py REPO [N] [--seed S]

Collects REPO into a throw-away database, opens N random evidence ids (both sides of hunks, and
document segments) and compares text and sha256 with `git cat-file` of the named blob, cut to the
named range; the named lines and the named path at the named commit must lead to the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import throwaway
from benchmarks.processes import load

MARK = re.compile(r"\[REDACTED:[a-z_]+:[0-9a-f]{8}\]")


class StockGit:
    """One `git cat-file --batch` on the repository itself, as anybody would run it."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            ["git", "-C", str(root), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=throwaway.plain_environment(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def read(self, name: str) -> tuple[str, bytes] | None:
        """The object's id and content; None when git does not know the name."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(name.encode() + b"\n")
        self._process.stdin.flush()
        head = self._process.stdout.readline().split()
        if head[-1] == b"missing":
            return None
        content = self._process.stdout.read(int(head[2]))
        self._process.stdout.read(1)
        return head[0].decode(), content


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    root = options.repository.resolve()
    with throwaway.throwaway_database():
        project = throwaway.register(root)
        for source in ("git", "documents"):
            throwaway.collect(project, source)
        drawn = draw(options.count, options.seed)
        started = time.monotonic()
        with StockGit(root) as git:
            found = {one: outcome(project, one, git) for one in drawn}
        seconds = time.monotonic() - started
    counts = Counter(found.values())
    wrong = {one: said for one, said in found.items() if said not in {"equal", "redacted", "cut"}}
    sides = Counter(one[0] for one in drawn)
    print(f"repository  {root.name}, {len(drawn):,} ids, load {load()}")
    for name, count in [*sides.items(), *counts.most_common()]:
        print(f"{name:11} {count:,}")
    print(f"each        {seconds / max(1, len(drawn)) * 1000:.0f} ms")
    print(json.dumps({"repository": root.name, "ids": len(drawn), **sides, **counts}))
    for one, said in wrong.items():
        print(f"WRONG: {one}: {said}", file=sys.stderr)
    return 1 if wrong or not drawn else 0


def draw(count: int, seed: int) -> list[str]:
    """Ids at random out of all: both sides of every hunk that has a blob there, every segment."""
    from codememory.models import ContentChange, EvidenceSegment  # noqa: PLC0415 -- needs Django

    ids = [f"S{pk}" for pk in EvidenceSegment.objects.order_by("pk").values_list("pk", flat=True)]
    columns = ("pk", "old_oid", "new_oid", "hunk_ranges")
    for pk, old, new, ranges in ContentChange.objects.order_by("pk").values_list(*columns):
        for number in range(1, len(ranges) // 8 + 1):
            ids += [f"{side}{pk}.{number}" for side, oid in (("B", old), ("A", new)) if oid]
    chosen = random.Random(seed).sample(ids, min(count, len(ids)))
    return sorted(chosen)


def outcome(project: Any, evidence_id: str, git: StockGit) -> str:
    """`equal`, `redacted` or `cut` (what is left is equal), else what is different."""
    from codememory.evidence import find_evidence  # noqa: PLC0415 -- needs Django

    found = find_evidence(project, evidence_id)
    if found is None:
        return "it is not found"
    read = git.read(found["object_id"])
    if read is None:
        return "git does not have the blob"
    start, end = found["byte_range"]
    exact = read[1][start:end]
    if hashlib.sha256(exact).hexdigest() != found["sha256"]:
        return "the sha256 is another"
    if problem := reference_problem(found, read, exact, git):
        return problem
    said = base64.b64decode(found["bytes_base64"]) if found["bytes_base64"] else None
    shown = found["text"].encode() if said is None else said
    if found["redactions"]:
        return "redacted" if is_rest_equal(shown, found, exact) else "the rest is different"
    if found["truncation"]:
        return "cut" if exact.startswith(shown) else "the beginning is different"
    return "equal" if shown == exact else "the text is different"


def reference_problem(
    found: dict[str, Any], read: tuple[str, bytes], exact: bytes, git: StockGit
) -> str | None:
    """Whether the named lines, and the named path at the named commit, are the same bytes."""
    first, last = found["line_range"]
    lines = re.findall(rb"[^\n]*\n|[^\n]+", read[1])
    named = b"".join(lines[first - 1 : last]) if exact else b""
    is_whole_lines = found["side"] is not None  # a segment may be a part of its lines
    if named != exact if is_whole_lines else exact not in named:
        return "the lines are not those of the range"
    before = found["side"] == "BEFORE"
    path = found["old_path"] if before else found["new_path"]
    commit = found["compared_with"] if before else found["commit"] or found["head_at_capture"]
    if path is None or "\\" in path:
        return None  # shown with escapes
    there = git.read(f"{commit}:{path}")
    return None if there is not None and there[0] == read[0] else "another blob is at that path"


def is_rest_equal(shown: bytes, found: dict[str, Any], exact: bytes) -> bool:
    """Everything between the marks is what stands between the redacted ranges."""
    start = found["byte_range"][0]
    at, pieces = 0, []
    for span in found["redactions"]:
        pieces.append(exact[at : max(0, span["start"] - start)])
        at = max(0, span["end"] - start)
    pieces.append(exact[at:])
    between = [piece.encode("latin-1") for piece in MARK.split(shown.decode("latin-1"))]
    return between == pieces


if __name__ == "__main__":
    sys.exit(main())
