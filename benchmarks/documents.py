"""Is every segment exact, and do headings agree with another parser? `documents.py REPO...`.

Reads the Markdown of a repository's HEAD. With `--examples spec.txt` (of the npm package
commonmark-spec) the specification's examples too, with `--random N` that many random documents;
with `--history` what a collection stores of all versions, beside git's own list. It fails where
bytes or lines are wrong or a version is missing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from markdown_it import MarkdownIt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import markdown_cases
from benchmarks.throwaway import collect, git, register, throwaway_database
from collectors.documents import is_document, read_document
from collectors.ignoring import Eligibility, Ignores
from collectors.policy import Policy
from collectors.statements import find_statements
from collectors.values import Document

POLICY = Policy(redaction_key=b"benchmark" * 4)
SHOWN = 200  # differences that are printed in full
Heading = tuple[int, int, int, str]  # first line, last line, level, text


@dataclass
class Found:
    """What was counted, and every difference."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    statement_seconds: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repos", nargs="*", type=Path)
    parser.add_argument("--examples", type=Path)
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--history", action="store_true")
    options = parser.parse_args()
    failed = False
    for repo in options.repos:
        found = Found()
        for path, oid, content in documents_of(repo):
            check(path, oid, content, found)
        head = git(repo, "rev-parse", "HEAD").decode().strip()
        failed |= bool(found.wrong)
        show(f"{repo.parent.name if repo.name == 'repo' else repo.name} at {head}", found)
    if options.examples:
        found = Found()
        for number, text in examples(options.examples):
            # Front matter is no part of the specification: it is not taken off for the other one.
            check(b"%d.md" % number, "0" * 40, text.encode(), found, takes_off=False)
        failed |= bool(found.wrong)
        show("examples of the specification", found)
    if options.random:
        compare_random(options.random)
    if options.history:
        for repo in options.repos:
            failed |= not check_history(repo)
    sys.exit(failed)


def documents_of(repo: Path) -> Iterator[tuple[bytes, str, bytes]]:
    for entry in git(repo, "ls-tree", "-r", "-z", "HEAD").split(b"\0"):
        if not entry:
            continue
        head, path = entry.split(b"\t", 1)
        mode, _, oid = head.decode().split()
        if mode.startswith("100") and is_document(path):
            yield path, oid, git(repo, "cat-file", "blob", oid)


def check(path: bytes, oid: str, content: bytes, found: Found, *, takes_off: bool = True) -> None:
    started = time.process_time()
    document = read_document(path, oid, content, POLICY)
    read_at = time.process_time()
    find_statements(document)
    found.seconds += read_at - started
    found.statement_seconds += time.process_time() - read_at
    found.counts.update(
        documents=1,
        bytes=len(content),
        segments=len(document.segments),
        sections=len(document.sections),
        redactions=sum(len(one.redactions) for one in document.segments),
        crlf=b"\r\n" in content,
        bom=content.startswith(b"\xef\xbb\xbf"),
        front_matter=any(one.kind == "front_matter" for one in document.segments),
        split_blocks=sum(one.is_truncated for one in document.segments),
    )
    found.counts.update(f"gap {gap.reason}" for gap in document.gaps)
    found.wrong += wrong_ranges(path, document, content)
    if not document.gaps:
        last = (one.last_line for one in document.segments if one.kind == "front_matter")
        compare_headings(path, document, content, next(last, 0) if takes_off else 0, found)


def line_numbers(content: bytes) -> list[int]:
    """The line of each byte, from 1, counted byte by byte: CRLF, a lone CR and LF each end one."""
    numbers, line, index = [], 1, 0
    while index < len(content):
        numbers.append(line)
        if content[index] == 0x0D and content[index + 1 : index + 2] == b"\n":
            numbers.append(line)
            index += 1
            line += 1
        elif content[index] in b"\r\n":
            line += 1
        index += 1
    return numbers


def wrong_ranges(path: bytes, document: Document, content: bytes) -> list[str]:
    lines, at, wrong = line_numbers(content), 0, []
    for one in document.segments:
        exact = content[one.start : one.end]
        name = f"{path.decode('utf-8', 'replace')} {one.start}-{one.end}"
        if sha256(exact).digest() != one.sha256:
            wrong.append(f"{name}: hash")
        if not one.redactions and exact != one.content:
            wrong.append(f"{name}: bytes")
        if (lines[one.start], lines[one.end - 1]) != (one.first_line, one.last_line):
            wrong.append(f"{name}: lines {one.first_line}-{one.last_line}")
        if one.start < at:
            wrong.append(f"{name}: overlaps")
        at = one.end
    return wrong + [
        f"{path.decode('utf-8', 'replace')} section {one.start}: hash"
        for one in document.sections
        if sha256(content[one.start : one.end]).digest() != one.sha256
    ]


def compare_headings(
    path: bytes, document: Document, content: bytes, body: int, found: Found
) -> None:
    """Only headings that make sections: those in lists and quotations are text there."""
    mine, other = our_headings(document), their_headings(content, body)
    found.counts["headings"] += len(other)
    found.counts["headings that agree"] += len(mine & other)
    for line, last, level, text in sorted((mine - other) | (other - mine)):
        side = "ours" if (line, last, level, text) in mine else "markdown-it"
        name = path.decode("utf-8", "replace")
        found.headings.append(f"{name}:{line}-{last} h{level} {side} {text[:80]!r}")


def our_headings(document: Document) -> set[Heading]:
    lines = {one.start: one.last_line for one in document.segments if one.kind == "heading"}
    return {
        (one.first_line, lines[one.start], one.level, " ".join(one.heading.split()))
        for one in document.sections
        if one.level
    }


def their_headings(content: bytes, body: int) -> set[Heading]:
    text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    text = "\n".join(text.split("\n")[body:])
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    headings = set()
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            first, end = token.map
            shown = " ".join(tokens[number + 1].content.split())[:300]
            headings.add((first + 1 + body, end + body, int(token.tag[1:]), shown))
    return headings


def examples(spec: Path) -> Iterator[tuple[int, str]]:
    fence = "`" * 32
    pattern = re.compile(rf"^{fence} example\n(.*?)^\.\n.*?^{fence}$", re.DOTALL | re.MULTILINE)
    for number, match in enumerate(pattern.finditer(spec.read_text("utf-8")), 1):
        yield number, match[1].replace("\u2192", "\t")


def compare_random(count: int) -> None:
    """Half of them hold lines on which parsers differ by intention."""
    for is_disputed in (False, True):
        differing = []
        for seed in range(count // 2):
            text = markdown_cases.document(seed, is_disputed=is_disputed)
            if markdown_cases.our_headings(text) != markdown_cases.their_headings(text):
                differing.append(text)
        name = "with disputed lines" if is_disputed else "random documents"
        print(f"\n{count // 2:,} {name}: headings differ in {len(differing)}")
        for text in differing[:SHOWN]:
            print(f"    {text!r}")


def check_history(repo: Path) -> bool:
    """Collect the repository and compare the versions stored with git's own list of them."""
    with throwaway_database():
        from codememory.models import SectionChange, SourceRevision  # noqa: PLC0415

        project = register(repo)
        collect(project, "git")
        run, seconds = collect(project, "documents")
        rows = SourceRevision.objects.values_list("path__raw", "object_oid")
        stored = {(bytes(raw), oid) for raw, oid in rows}
        kinds = Counter(SectionChange.objects.values_list("kind", flat=True))
    listed = versions_of(repo)
    unread = listed - stored
    figures = {
        "versions git lists": len(listed),
        "revisions stored": len(stored),
        "missing": len(unread),
        "too many": len(stored - listed),
        "seconds": round(seconds, 1),
        **kinds,
        **run.metrics,
    }
    print(json.dumps(figures))
    for path, oid in sorted(unread)[:SHOWN]:
        print(f"  missing {path.decode('utf-8', 'replace')} {oid}")
    return stored == listed


def versions_of(repo: Path) -> set[tuple[bytes, str]]:
    """Every (path, blob) of an eligible document in any commit that HEAD reaches, of git's own."""
    eligibility = Eligibility(POLICY, Ignores())
    command = ["log", "--raw", "-z", "-m", "--no-abbrev", "--no-renames", "--format=", "HEAD"]
    tokens = [token.lstrip(b"\n") for token in git(repo, *command).split(b"\0")]
    found: set[tuple[bytes, str]] = set()
    for head, path in zip(tokens[::2], tokens[1::2], strict=False):
        old_mode, new_mode, old, new, _ = head.decode().lstrip(":").split()
        if is_document(path) and eligibility.left_out(path) is None:
            sides = ((old_mode, old), (new_mode, new))
            found |= {(path, oid) for mode, oid in sides if mode.startswith("100")}
    return found


def show(name: str, found: Found) -> None:
    print(f"\n{name}")
    for key, count in found.counts.items():
        print(f"  {key}: {count:,}")
    megabytes = found.counts["bytes"] / 1e6
    for key, seconds in (("read", found.seconds), ("statements", found.statement_seconds)):
        rate = megabytes / max(seconds, 1e-9)
        print(f"  {key}: {seconds:.2f} s of processor, {rate:.1f} MB/s")
    print(f"  wrong ranges, hashes or lines: {len(found.wrong)}")
    for line in found.wrong[:SHOWN]:
        print(f"    {line}")
    print(f"  headings that differ: {len(found.headings)}")
    for line in found.headings[:SHOWN]:
        print(f"    {line}")


if __name__ == "__main__":
    main()
