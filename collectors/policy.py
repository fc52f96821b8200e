"""What may be read and how much of it: built-in rules from exclusions.toml, then the user's globs.

A frozen value that callers hand to every collector; it reads no setting and no environment.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache, lru_cache
from pathlib import Path

from pathspec import GitIgnoreSpec

from collectors.values import PathClass

_ORDER = (
    PathClass.PROTECTED,
    PathClass.EXCLUDED,
    PathClass.VENDORED,
    PathClass.LOCKFILE,
    PathClass.GENERATED,
)
_CACHED_PATHS = 200_000
NOT_INCLUDED = "not included"  # what decides about a path that `include` leaves out
MAX_GLOBS, MAX_GLOB_CHARACTERS = 1_000, 500
# Each run of stars multiplies the time that a hostile path takes to match.
MAX_STARS = 3
_STARS = re.compile(r"\*+")
_Verdict = tuple[PathClass, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern, for the preview: the group it belongs to and the class it gives."""

    name: str
    path_class: PathClass
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Limits and globs of one policy generation. `include` and `exclude` are gitignore-style.

    With `include`, what it does not match is EXCLUDED. `!glob` in `exclude` brings back what the
    built-in rules or an earlier glob leave out; nothing brings back a PROTECTED path.
    """

    generation: int = 1
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    untracked: bool = False  # whether documents that Git does not track are read as well
    max_blob_bytes: int = 2 * 1024 * 1024
    max_patch_bytes: int = 256 * 1024
    max_document_bytes: int = 2 * 1024 * 1024
    max_message_bytes: int = 4096
    excerpt_bytes: int = 48 * 1024  # of one answer's text
    disk_bytes: int | None = None  # of the project's rows; None: no budget
    redaction_key: bytes = field(repr=False)
    _paths: dict[bytes, _Verdict] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def classify(self, path: bytes) -> tuple[PathClass, str]:
        """The path's class and the pattern that decided; an empty pattern where none did."""
        found = self._paths.get(path)
        if found is None:
            if len(self._paths) >= _CACHED_PATHS:
                self._paths.clear()
            found = self._paths[path] = self._classify(path)
        return found

    def rules(self) -> tuple[Rule, ...]:
        """Every rule in force, built-in first."""
        return (
            *_built_in().rules,
            *(Rule("your exclude", _class_of(glob), glob) for glob in self.exclude),
            *(Rule("your include", PathClass.NORMAL, glob) for glob in self.include),
        )

    def _classify(self, path: bytes) -> _Verdict:
        verdict = _built_in().classify(path)
        if verdict[0] is PathClass.PROTECTED or not (self.include or self.exclude):
            return verdict
        text = os.fsdecode(path)
        result = _compile(self.exclude).check_file(text)
        if result.include is not None and result.index is not None:
            glob = self.exclude[result.index]
            if result.include:
                return PathClass.EXCLUDED, glob
            verdict = (PathClass.NORMAL, glob)
        if self.include and not _compile(self.include).match_file(text):
            return PathClass.EXCLUDED, NOT_INCLUDED
        return verdict


class _BuiltIn:
    """The rules of exclusions.toml, asked once per folder and once per file name."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        folder_rules = [rule for rule in rules if rule.pattern.endswith("/")]
        name_rules = [rule for rule in rules if not rule.pattern.endswith("/")]
        # What a rule keeps out of itself, another rule may still hold.
        self._kept = {
            (r.name, _name_regex(r.pattern[1:])) for r in name_rules if r.pattern[0] == "!"
        }
        self._name_rules = [(r, _name_regex(r.pattern)) for r in name_rules if r.pattern[0] != "!"]
        self._any_name = re.compile("|".join(regex.pattern for _, regex in self._name_rules))
        self._folder_regexes = [(r, _folder_regex(r.pattern)) for r in folder_rules]
        self._judge_folder = lru_cache(50_000)(self._find_folder_rule)
        self._judge_name = lru_cache(50_000)(self._find_name_rule)

    def classify(self, path: bytes) -> _Verdict:
        folder, _, name = path.rpartition(b"/")
        by_folder, by_name = self._judge_folder(folder), self._judge_name(name)
        found = min((rule for rule in (by_folder, by_name) if rule), key=_rank, default=None)
        return (found.path_class, found.pattern) if found else (PathClass.NORMAL, "")

    def _find_folder_rule(self, folder: bytes) -> Rule | None:
        text = "/" + os.fsdecode(folder).lower() + "/"
        return min(
            (rule for rule, regex in self._folder_regexes if regex.search(text)),
            key=_rank,
            default=None,
        )

    def _find_name_rule(self, name: bytes) -> Rule | None:
        text = os.fsdecode(name).lower()
        if not self._any_name.match(text):
            return None
        kept = {name for name, regex in self._kept if regex.match(text)}
        found = (rule for rule, regex in self._name_rules if regex.match(text))
        return min((rule for rule in found if rule.name not in kept), key=_rank, default=None)


def glob_error(glob: str) -> str | None:
    """Why a text is no glob that an owner may set; None if it is one."""
    if not glob.strip("!/ \t"):
        return "it names nothing"
    if glob.startswith("#"):
        return "a line that begins with # is a comment: write \\#"
    if len(glob) > MAX_GLOB_CHARACTERS or not glob.isprintable():
        return f"it has characters that cannot be shown, or more than {MAX_GLOB_CHARACTERS} of them"
    if glob.split("/").count("**") > MAX_STARS or any(
        len(_STARS.findall(part)) > MAX_STARS for part in glob.split("/")
    ):
        return f"it has more than {MAX_STARS} stars in a row of names"
    try:
        GitIgnoreSpec.from_lines([glob])
    except ValueError:
        return "it is no glob in the manner of .gitignore"
    return None


def stricter(one: PathClass, other: PathClass) -> PathClass:
    """The class that decides for a change whose two paths differ in class."""
    return min(one, other, key=lambda path_class: _RANKS[path_class])


_RANKS = {path_class: rank for rank, path_class in enumerate((*_ORDER, PathClass.NORMAL))}


def _rank(rule: Rule) -> int:
    return _RANKS[rule.path_class]


def _name_regex(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.lower()))


def _folder_regex(pattern: str) -> re.Pattern[str]:
    parts = pattern.strip("/").lower().split("/")
    chain = "/".join(re.escape(part).replace(r"\*", "[^/]*") for part in parts)
    return re.compile(f"/{chain}/")


def _class_of(glob: str) -> PathClass:
    return PathClass.NORMAL if glob.startswith("!") else PathClass.EXCLUDED


@cache
def _compile(globs: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(globs)


@cache
def _built_in() -> _BuiltIn:
    groups = tomllib.loads((Path(__file__).parent / "exclusions.toml").read_text("utf-8"))["rule"]
    return _BuiltIn(
        tuple(
            Rule(group["name"], PathClass(group["class"]), pattern)
            for group in groups
            for pattern in group["patterns"]
        )
    )
