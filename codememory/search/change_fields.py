"""Turns a logical change into the weighted terms of its one search row.

`change_fields` counts terms per field (paths, code, comments, documents, what was there on one side
only); the caller says which added terms the project never had before; `change_impacts` weighs them.
Beside the terms stand the change's shape and which words are neighbours in it, for ranking.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_letters

from codememory.search import ranking
from codememory.search.analyser import term_counts
from codememory.search.line_kinds import DEFINITION, PathKind, definitions, is_comment, path_kind
from codememory.search.neighbours import neighbours_of
from codememory.search.shape import Shape
from collectors.values import Hunk, PathClass

FILE_LIMIT = 8_000  # characters of changed lines a file, each side
COMMIT_LIMIT = 60_000  # characters of changed lines a commit
CONTEXT_LINES = 3
HEADER_SEARCH_LINES = 400  # how far up the line that names the surrounding code is looked for
LINE_LIMIT = 1_000  # of a longer line (minified, encoded) only this much
FILES_LIMIT = 300  # a change of more files is a sweep: the rest counts by path alone

_HEADERS = frozenset(letter.encode() for letter in ascii_letters + "_$")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a change: paths as git has them, both redacted texts, the differing lines."""

    old_path: bytes | None
    new_path: bytes | None
    old: bytes | None = None
    new: bytes | None = None
    hunks: tuple[Hunk, ...] = ()
    path_class: PathClass = PathClass.NORMAL


@dataclass(frozen=True, slots=True)
class ChangeFields:
    """Term counts by field; `added` and `removed` are the terms of the changed lines."""

    counts: dict[str, Mapping[str, float]]
    added: Mapping[str, float]
    removed: Mapping[str, float]
    shape: Sequence[int]
    neighbours: bytes

    def weighed(self) -> ChangeTerms:
        impacts = ranking.weigh({}, self.counts, ranking.CHANGE_FIELDS)
        return ChangeTerms(impacts, self.added, self.shape, self.neighbours)


@dataclass(frozen=True, slots=True)
class ChangeTerms:
    """What a change is indexed by: each term's impact but for its being new, and added terms.

    `shape` are the counts of a Shape, `neighbours` the filter of words beside each other.
    """

    impacts: Mapping[str, float]
    added: Mapping[str, float]
    shape: Sequence[int]
    neighbours: bytes


def change_fields(files: Sequence[ChangedFile]) -> ChangeFields:
    texts = _Texts()
    for changed in files[:FILES_LIMIT]:
        texts.add(changed)
    for changed in files[FILES_LIMIT:]:
        texts.add_paths(changed)
    counts: dict[str, Mapping[str, float]] = {
        name: term_counts("\n".join(lines)) for name, lines in texts.lines.items()
    }
    added = _sum(counts, "a")
    removed = _sum(counts, "r")
    counts["delta"] = {
        term: difference
        for term in added.keys() | removed.keys()
        if (difference := abs(added.get(term, 0.0) - removed.get(term, 0.0)))
    }
    counts["dnew"] = {term: n for term, n in added.items() if term not in removed}
    counts["dgone"] = {term: n for term, n in removed.items() if term not in added}
    counted = texts.shape.counts()
    return ChangeFields(counts, added, removed, counted, neighbours_of(texts.stream))


def change_impacts(change: ChangeTerms, first_terms: Collection[str] = ()) -> dict[str, float]:
    """The impact of each term; `first_terms` are those of `change.added` never added before."""
    first = {term: change.added[term] for term in first_terms if term in change.added}
    total = ranking.weigh(dict(change.impacts), {"first": first}, ranking.CHANGE_FIELDS)
    return ranking.strongest(total)


def text_impacts(texts: Mapping[str, str]) -> dict[str, float]:
    """The same for sections, candidates and memories: heading, body, path, symbol."""
    return ranking.impacts(text_counts(texts), ranking.TEXT_FIELDS)


def text_counts(texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    return {name: term_counts(text) for name, text in texts.items()}


def text_neighbours(texts: Mapping[str, str]) -> bytes:
    """The filter of the words beside each other in such texts."""
    return neighbours_of(texts.values())


@dataclass(slots=True)
class _Texts:
    """Collects the lines of every field within the limits of the whole change."""

    lines: dict[str, list[str]] = field(default_factory=dict)
    stream: list[str] = field(default_factory=list)  # what was read, in order
    shape: Shape = field(default_factory=Shape)
    left: int = COMMIT_LIMIT

    def put(self, name: str, text: str) -> None:
        self.lines.setdefault(name, []).append(text)

    def add_paths(self, changed: ChangedFile) -> None:
        path = _decoded(changed.new_path or changed.old_path or b"")
        directory, _, base = path.rpartition("/")
        self.put("base", base)
        self.put("dir", directory)
        self.stream.append(path)
        self.shape.add_file(changed.old_path, changed.new_path, path_kind(path))
        if changed.old_path and changed.new_path and changed.old_path != changed.new_path:
            self.put("oldpath", _decoded(changed.old_path))

    def add(self, changed: ChangedFile) -> None:
        self.add_paths(changed)
        if not changed.hunks or changed.path_class in {PathClass.EXCLUDED, PathClass.PROTECTED}:
            return
        path = _decoded(changed.new_path or changed.old_path or b"")
        kind = path_kind(path)
        self.shape.add_hunks(changed.hunks)
        old, new = _lines(changed.old), _lines(changed.new)
        added: list[str] = []
        removed: list[str] = []
        room = [min(FILE_LIMIT, self.left), min(FILE_LIMIT, self.left)]
        read: list[Hunk] = []
        for hunk in changed.hunks:
            if max(room) <= 0 or self.left <= 0:
                break
            gone = _take(old, hunk.old_line, hunk.old_lines, room[0])
            removed += gone
            room[0] -= (old_size := _size(gone))
            came = _take(new, hunk.new_line, hunk.new_lines, room[1])
            added += came
            room[1] -= (new_size := _size(came))
            self.left -= old_size + new_size
            self.stream += [*came, *gone]
            read.append(hunk)
        self.put_side("a", kind, added)
        self.put_side("r", kind, removed)
        self.put_names(kind, path, added + removed)
        self.put_context(new, read)

    def put_side(self, side: str, kind: PathKind, lines: list[str]) -> None:
        if kind is not PathKind.CODE:
            self.put(side + kind.value, "\n".join(lines))
            return
        for line in lines:
            is_said = is_comment(line)
            self.shape.comment_lines += is_said
            self.put(side + ("cmt" if is_said else "code"), line)

    def put_names(self, kind: PathKind, path: str, lines: list[str]) -> None:
        if kind in {PathKind.CODE, PathKind.TEST}:
            names = definitions("\n".join(lines), path)
            if names:
                self.put("tdef" if kind is PathKind.TEST else "def", "\n".join(names))

    def put_context(self, new: list[bytes], hunks: list[Hunk]) -> None:
        """The unchanged lines around each hunk, and what the lines above say they belong to."""
        if not new:
            return
        # Of a deletion: the empty place where its lines were.
        spans = [(hunk.new_line - 1, hunk.new_line - 1 + hunk.new_lines) for hunk in hunks]
        changed = {line for start, end in spans for line in range(start, end)}
        around: set[int] = set()
        headers: set[int] = set()
        for start, end in spans:
            around.update(range(max(0, start - CONTEXT_LINES), start))
            around.update(range(end, min(len(new), end + CONTEXT_LINES)))
            header = _header(new, start - CONTEXT_LINES - 1)
            if header is not None:
                headers.add(header)
        context = "\n".join(
            _decoded(new[line]) for line in sorted(around - changed) if line < len(new)
        )
        self.put("ctx", context)
        names = [match.group(0) for match in DEFINITION.finditer(context)]
        inside = "\n".join([*(_decoded(new[line][:80]) for line in sorted(headers)), *names])
        self.put("fn", inside)
        self.stream.append(inside)


def _header(lines: list[bytes], last: int) -> int | None:
    """The nearest line above that starts with a letter: what git shows behind `@@`."""
    for index in range(min(last, len(lines) - 1), max(-1, last - HEADER_SEARCH_LINES), -1):
        if lines[index][:1] in _HEADERS:
            return index
    return None


def _take(lines: list[bytes], first: int, count: int, room: int) -> list[str]:
    """The hunk's lines of one side, as many as there is room for."""
    taken: list[str] = []
    for line in lines[first - 1 : first - 1 + count] if count else ():
        if room <= 0:
            break
        taken.append(_decoded(line[:LINE_LIMIT]))
        room -= len(taken[-1]) + 1
    return taken


def _size(lines: list[str]) -> int:
    return sum(map(len, lines)) + len(lines)


def _sum(counts: Mapping[str, Mapping[str, float]], side: str) -> dict[str, float]:
    total: dict[str, float] = {}
    for name in ("code", "cmt", "test", "doc", "chg", "cfg"):
        for term, count in counts.get(side + name, {}).items():
            total[term] = total.get(term, 0.0) + count
    return total


def _lines(text: bytes | None) -> list[bytes]:
    return text.split(b"\n") if text else []


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
