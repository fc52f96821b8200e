"""Precision and recall of statements on labelled sentences: `statements.py CLONES [--show]`.

CLONES holds git directories or clones named owner+name, owner+name/repo, owner/name or name.
`statements.py CLONES --draw OWNER/NAME...` prints candidates for labelling by hand instead.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from collectors.documents import is_document, read_document
from collectors.policy import Policy
from collectors.statements import EXTRACTOR_REVISION, MAX_STATEMENTS, find_statements
from collectors.values import Statement

LABELLED = Path(__file__).parent / "labelled"
SEED, DRAWN = 20261130, 100
UNLIMITED = 1_000_000
POLICY = Policy(redaction_key=b"benchmark" * 4)


@dataclass(frozen=True, slots=True)
class Label:
    """One labelled sentence: where it stands and what it is."""

    id: str
    language: str
    repository: str
    commit: str
    path: str
    start: int
    end: int
    type: str
    modalities: tuple[str, ...]

    @property
    def is_statement(self) -> bool:
        return self.modalities != ("NONE",)


@dataclass(frozen=True, slots=True)
class Match:
    label: Label
    found: Statement | None


class Clones:
    """Documents of the clones in a folder, each at its very commit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def git(self, repository: str, *arguments: str) -> bytes:
        return subprocess.run(
            ["git", "-C", str(self._clone(repository)), *arguments], capture_output=True, check=True
        ).stdout

    def document(self, repository: str, commit: str, path: str) -> bytes:
        return self.git(repository, "cat-file", "blob", f"{commit}:{path}")

    def _clone(self, repository: str) -> Path:
        joined = repository.replace("/", "+")
        for name in (f"{joined}/repo", joined, repository, repository.partition("/")[2]):
            if (self._folder / name).is_dir():
                return self._folder / name
        raise SystemExit(f"{self._folder} holds no clone of {repository}")


def read_labels(file: Path) -> Iterator[Label]:
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            start, _, end = row["bytes"].partition("-")
            yield Label(
                id=row["id"],
                language=row["language"],
                repository=row["repository"],
                commit=row["commit"],
                path=row["path"],
                start=int(start),
                end=int(end),
                type=row["type"],
                modalities=tuple(row["modality"].split("|")),
            )


def match_labels(clones: Clones, labels: Iterable[Label], most: int) -> list[Match]:
    """Each label with the statement that covers at least half of its bytes or has its text.

    `most` is the number of statements kept of a document.
    """

    @cache
    def statements(repository: str, commit: str, path: str) -> list[Statement]:
        content = clones.document(repository, commit, path)
        return find_statements(read_document(path.encode(), "0" * 40, content, POLICY), most)

    def covering(label: Label) -> Statement | None:
        found = statements(label.repository, label.commit, label.path)
        best = max(found, key=lambda one: _shared(one, label), default=None)
        if best and 2 * _shared(best, label) >= label.end - label.start:
            return best
        # A sentence that stands twice in a document is one statement, at its first place.
        content = clones.document(label.repository, label.commit, label.path)
        text = " ".join(content[label.start : label.end].decode().split())
        return next((one for one in found if one.text == text), None)

    return [Match(label, covering(label)) for label in labels]


def _shared(statement: Statement, label: Label) -> int:
    return min(statement.end, label.end) - max(statement.start, label.start)


def figures(matches: list[Match]) -> dict[str, float | int | None]:
    true = [one for one in matches if one.label.is_statement and one.found]
    false = [one for one in matches if not one.label.is_statement and one.found]
    missed = [one for one in matches if one.label.is_statement and not one.found]

    def share(part: int, whole: int) -> float | None:
        return round(part / whole, 3) if whole else None

    def agreeing(first_only: bool) -> int:
        return sum(
            one.found.modality in one.label.modalities[: 1 if first_only else None]
            for one in true
            if one.found
        )

    return {
        "sentences": len(matches),
        "true": len(true),
        "false": len(false),
        "missed": len(missed),
        "precision": share(len(true), len(true) + len(false)),
        "recall": share(len(true), len(true) + len(missed)),
        "modality first": share(agreeing(True), len(true)),
        "modality any": share(agreeing(False), len(true)),
        "type": share(sum(m.found.type == m.label.type for m in true if m.found), len(true)),
    }


def report(file: Path, clones: Clones, show: bool) -> None:
    matches = match_labels(clones, labels := list(read_labels(file)), MAX_STATEMENTS)
    groups = {"all": matches, "no limit": match_labels(clones, labels, UNLIMITED)}
    for language in sorted({one.label.language for one in matches}):
        groups[language] = [one for one in matches if one.label.language == language]
    for modality in sorted({one.label.modalities[0] for one in matches} - {"NONE"}):
        groups[modality] = [one for one in matches if one.label.modalities[0] == modality]
    table = {name: figures(group) for name, group in groups.items()}
    print(f"\n{file.name}, extractor revision {EXTRACTOR_REVISION}")
    print(f"{'':12}" + "".join(f"{key:>16}" for key in table["all"]))
    for name, row in table.items():
        print(f"{name:12}" + "".join(f"{'-' if one is None else one:>16}" for one in row.values()))
    rules = Counter(one.found.rule for one in matches if one.found and not one.label.is_statement)
    print("rules of the false ones:", dict(rules.most_common()))
    print_list("missed", [m for m in matches if m.label.is_statement and not m.found], clones, show)
    print_list("false", [m for m in matches if m.found and not m.label.is_statement], clones, show)
    print(json.dumps({"set": file.name, "revision": EXTRACTOR_REVISION, **table["all"]}))


def print_list(title: str, matches: list[Match], clones: Clones, show: bool) -> None:
    if not show:
        print(f"{title}:", " ".join(one.label.id for one in matches))
        return
    for match in matches:
        label = match.label
        content = clones.document(label.repository, label.commit, label.path)
        text = content[label.start : label.end].decode("utf-8", "replace")
        rule = match.found.rule if match.found else "-"
        print(f"{title} {label.id} {label.modalities[0]} {rule} {label.path}")
        print(f"    {' '.join(text.split())}")


def draw(clones: Clones, repositories: list[str], show: bool) -> None:
    """Prints rows for labelling: DRAWN statements at random out of all the documents' ones."""
    found: list[tuple[str, str, str, bytes, Statement]] = []
    for repository in repositories:
        commit = clones.git(repository, "rev-parse", "HEAD").decode().strip()
        names = clones.git(repository, "ls-tree", "-r", "-z", "--name-only", commit)
        for name in sorted(filter(is_document, names.split(b"\0"))):
            content = clones.document(repository, commit, path := name.decode())
            document = read_document(name, "0" * 40, content, POLICY)
            found += [(repository, commit, path, content, s) for s in find_statements(document)]
    print(f"# {len(found)} statements")
    picked = random.Random(SEED).sample(range(len(found)), min(DRAWN, len(found)))
    for number, index in enumerate(sorted(picked), 1):
        repository, commit, path, content, one = found[index]
        first, last = (content.count(b"\n", 0, at) + 1 for at in (one.start, one.end))
        where = [repository, commit, path, f"{first}-{last}", f"{one.start}-{one.end}"]
        print("\t".join([f"C{number:03}", "en", *where, one.type, one.modality, "", one.rule]))
        if show:
            print(f"    {one.text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--show", action="store_true", help="print the sentences, not only ids")
    parser.add_argument("--draw", nargs="+", metavar="OWNER/NAME")
    chosen = parser.parse_args()
    clones = Clones(chosen.clones)
    if chosen.draw:
        draw(clones, chosen.draw, chosen.show)
        return
    names = ["sentences.tsv", "reserve.tsv", "later.tsv", "fresh.tsv", "fresh-2.tsv"]
    for name in names + sorted(one.name for one in LABELLED.glob("candidates*")):
        report(LABELLED / name, clones, chosen.show)


if __name__ == "__main__":
    main()
