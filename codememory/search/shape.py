"""What a change looks like, whatever its words: counts kept beside its terms, and the verbs of a
question, which say something of them ("remove" of a change that only deletes).

The counts are kept, not what is made of them, so that a formula can change without indexing again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

from codememory.search.analyser import parted_words
from codememory.search.line_kinds import PathKind
from collectors.values import Hunk

COUNT_LIMIT = 32_767  # kept as smallints
LEADING_WORDS = 2  # of a question: a verb among them says more
LATER_SHARE = 0.6
FEW_LINES = 4

_VERBS = {
    "fix": """fix fixes fixed fixing bug resolve resolves correct corrected repair handle handles
        avoid prevent ensure regression crash""",
    "add": """add adds added adding new implement implements implemented support supports introduce
        allow allows enable create feat feature""",
    "remove": """remove removes removed removing delete deleted drop drops dropped deprecate
        deprecated kill strip unused dead disable""",
    "rename": "rename renames renamed move moved moves moving relocate",
    "refactor": """refactor refactored refactoring simplify simplified cleanup clean cleaned
        reorganize restructure extract split reuse rewrite consolidate deduplicate""",
    "test": "test tests testing tested coverage fixture assert",
    "document": """doc docs document documentation documented readme docstring docstrings changelog
        comment comments example examples explain mention clarify note guide tutorial""",
    "typo": "typo typos spelling grammar wording misspelled",
    "update": """update updates updated upgrade change changed changes switch replace replaced
        convert migrate""",
    "improve": """improve improved improvement better make optimize faster performance perf tweak
        adjust""",
    "style": """style format formatting lint flake8 pep8 whitespace indent indentation pyflakes
        black isort ruff mypy type typing annotation annotations hints""",
    "build": """ci travis github actions workflow workflows build tox version appveyor docker setup
        packaging""",
    "revert": "revert reverts reverted undo back",
}
_CLASS_OF = {word: name for name, words in _VERBS.items() for word in words.split()}
NO_VERB: Final = "none"
VERBS: Final = (*_VERBS, NO_VERB)


_COUNT_OF = {
    PathKind.CODE: "code",
    PathKind.TEST: "tests",
    PathKind.DOC: "documents",
    PathKind.CONFIG: "settings",
    PathKind.CHANGELOG: "change_logs",
}


@dataclass(slots=True)
class Shape:
    """Counts of one change: lines and files, files by what became of them and by kind."""

    added_lines: int = 0
    removed_lines: int = 0
    comment_lines: int = 0
    hunks: int = 0
    files: int = 0
    new: int = 0
    deleted: int = 0
    renamed: int = 0
    code: int = 0
    tests: int = 0
    documents: int = 0
    settings: int = 0
    change_logs: int = 0

    def add_file(self, old_path: bytes | None, new_path: bytes | None, kind: PathKind) -> None:
        self.files += 1
        self.new += old_path is None
        self.deleted += new_path is None
        self.renamed += bool(old_path and new_path and old_path != new_path)
        name = _COUNT_OF[kind]
        setattr(self, name, getattr(self, name) + 1)

    def add_hunks(self, hunks: Sequence[Hunk]) -> None:
        self.hunks += len(hunks)
        self.added_lines += sum(hunk.new_lines for hunk in hunks)
        self.removed_lines += sum(hunk.old_lines for hunk in hunks)

    def counts(self) -> list[int]:
        return [min(COUNT_LIMIT, getattr(self, name)) for name in COUNTS]


COUNTS: Final = tuple(one.name for one in fields(Shape))
FEATURES: Final = (
    "lines", "files", "added_share", "only_adds", "only_removes", "new", "deleted", "renamed",
    "tests", "documents", "settings", "change_log", "code", "only_documents", "only_tests",
    "only_settings", "few_lines", "hunks", "as_many", "comments",
)  # fmt: skip


def features(counts: Sequence[int]) -> tuple[float, ...]:
    """The numbers of FEATURES, each about 0 to 1, of the counts of a shape."""
    shape = Shape(*counts)
    lines = shape.added_lines + shape.removed_lines
    files = max(1, shape.files)
    return (
        math.log1p(lines) / 4,
        math.log1p(shape.files) / 2,
        shape.added_lines / lines if lines else 0.5,
        float(lines > 0 and not shape.removed_lines),
        float(lines > 0 and not shape.added_lines),
        min(1.0, 2 * shape.new / files),
        min(1.0, 2 * shape.deleted / files),
        min(1.0, 2 * shape.renamed / files),
        shape.tests / files,
        shape.documents / files,
        shape.settings / files,
        float(shape.change_logs > 0),
        shape.code / files,
        float(shape.documents + shape.change_logs == files),
        float(shape.tests == files),
        float(shape.settings == files),
        float(lines <= FEW_LINES),
        math.log1p(shape.hunks) / 2,
        float(lines > 0 and shape.added_lines == shape.removed_lines),
        shape.comment_lines / lines if lines else 0.0,
    )


def verbs(question: str) -> dict[str, float]:
    """The classes of verbs a question holds; one that begins it counts fully."""
    found: dict[str, float] = {}
    for place, word in enumerate(parted_words(question)):
        name = _CLASS_OF.get(word.casefold())
        if name is not None:
            share = 1.0 if place < LEADING_WORDS else LATER_SHARE
            found[name] = max(found.get(name, 0.0), share)
    return found or {NO_VERB: 1.0}
