"""Reads repositories as a run does, without the database, and prints what it saw as JSON.

A program of its own, so that everything it starts and connects to can be watched. Called with a
file of JSON: `{name: root}`, a folder for its shadows, and `walls` to keep the limits of children.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import collectors.git as collectors_git
from collectors.document_reader import DocumentReader
from collectors.documents import is_document
from collectors.git import Refused, Shadow, open_repository
from collectors.history import read_page
from collectors.parse_pool import ParsePool
from collectors.policy import Policy
from collectors.values import Gap

POLICY = Policy(redaction_key=b"only-for-tests")


@dataclass
class Seen:
    """What was read of one repository; bytes as Latin-1, so that all of them can be told."""

    refused: str = ""
    head: str | None = None
    branch: str | None = None
    commits: list[str] = field(default_factory=list)
    rows: list[tuple[str, str, str]] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    gaps: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    seconds: float = 0.0
    peak_mib: int = 0  # of this process, and of its largest child, so far
    child_mib: int = 0

    def note(self, gaps: list[Gap] | tuple[Gap, ...]) -> None:
        self.gaps += [
            (gap.reason.value, gap.path.decode("latin-1") if gap.path else None, gap.oid)
            for gap in gaps
        ]


def read(root: Path, scratch: Path, pool: ParsePool) -> Seen:
    seen = Seen()
    repository = open_repository(root)
    if isinstance(repository, Refused):
        seen.refused = repository.reason
        return seen
    with Shadow(repository, scratch) as shadow:
        head = shadow.head()
        seen.head, seen.branch = head.oid, head.branch
        if head.oid is not None:
            read_history(seen, shadow, head.oid)
            read_documents(seen, shadow, head.oid, DocumentReader(pool, POLICY))
    return seen


def read_history(seen: Seen, shadow: Shadow, head: str) -> None:
    with shadow.objects() as reader:
        listing = list(shadow.rev_list(head))
        while oids := listing[:100]:
            page = read_page(shadow, reader, oids, POLICY, lambda _: set())
            del listing[: page.listed]
            seen.commits += [commit.oid for commit in page.commits]
            for row in page.changes:
                path = row.new_path or row.old_path or b""
                seen.rows.append((row.commit_oid, row.kind, path.decode("latin-1")))
            for change in page.content_changes:
                sides = page.hunk_sides(change)
                seen.added += [after.decode("latin-1") for _, after in sides]
            seen.note(page.gaps)


def read_documents(seen: Seen, shadow: Shadow, head: str, documents: DocumentReader) -> None:
    gaps: list[Gap] = []
    with shadow.objects() as reader:
        for entry in shadow.tree(head, gaps):
            if not is_document(entry.path) or entry.mode != 0o100644 or entry.gap:
                continue
            content = reader.read(entry.oid)
            if isinstance(content, Gap):
                gaps.append(content)
                continue
            document = documents.with_statements(entry.path, entry.oid, content).document
            text = b"\n".join(segment.content for segment in document.segments)
            seen.documents[entry.path.decode("latin-1")] = text.decode("latin-1")
            gaps += document.gaps
    seen.note(gaps)


def main() -> None:
    # Under a file size limit of 0 nothing could leave a mark: the walls must not hide anything.
    if "walls" not in sys.argv:
        collectors_git.LIMITS.clear()
    collectors_git.MAX_LISTED = 20_000
    roots: dict[str, str] = json.loads(Path(sys.argv[1]).read_text())
    found: dict[str, Any] = {}
    with ParsePool() as pool:
        for name, root in roots.items():
            started = time.monotonic()
            seen = read(Path(root), Path(sys.argv[2]), pool)
            seen.seconds = time.monotonic() - started
            seen.peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            seen.child_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
            found[name] = vars(seen)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
