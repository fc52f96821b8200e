"""What collecting a folder would read, before anything is registered or written.

Counts are of HEAD and its history as they are now; time and size are estimates and said to be.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codememory.errors import RefusedProjectError
from codememory.paths import shown_path
from codememory.projects import canonical_root, open_root
from codememory.terminal import count_of, in_bytes, in_time, wrap
from collectors.documents import OWN_BLOCK, is_document, is_other_text, read_document
from collectors.git import ObjectReader, Shadow, TreeEntry, find_root
from collectors.ignoring import Eligibility, read_ignores
from collectors.policy import Policy
from collectors.redact import redact_path
from collectors.values import Gap, PathClass

EXAMPLES = 3
SAMPLE_COMMITS = 400
FILE_TYPE, REGULAR_FILE, LINK, SUBMODULE = 0o170000, 0o100000, 0o120000, 0o160000
UNREAD = (PathClass.EXCLUDED, PathClass.PROTECTED)
# From whole collections of flask (5,531 commits, 34,789 file changes) and django-q2: the time they
# took of one core, and what they added to the database. Both vary by half.
SECONDS_A_COMMIT, SECONDS_A_FILE_CHANGE, SECONDS_A_DOCUMENT = 0.004, 0.001, 0.03
BYTES_A_COMMIT, BYTES_A_FILE_CHANGE, BYTES_A_DOCUMENT = 1_000, 1_000, 50_000


@dataclass(slots=True)
class RuleCount:
    """A rule of what is read or not, how many tracked files it decides, and three of them."""

    effect: str  # "include" or "exclude"
    name: str
    path_class: str
    pattern: str
    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, path: bytes) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(shown_path(path) or "")


@dataclass(slots=True)
class Preview:
    """What was counted; `sources` by source, `rules` in the order in which they are shown."""

    root: Path
    head: str | None
    branch: str | None
    is_shallow: bool
    sources: dict[str, dict[str, int]]
    rules: list[RuleCount]
    seconds: float
    size: float

    def as_json(self) -> dict[str, Any]:
        return {
            "root": str(self.root),
            "head": self.head,
            "branch": self.branch,
            "is_shallow": self.is_shallow,
            "sources": self.sources,
            "rules": [
                {
                    "effect": rule.effect,
                    "name": rule.name,
                    "class": rule.path_class,
                    "pattern": rule.pattern,
                    "count": rule.count,
                    "examples": rule.examples,
                }
                for rule in self.rules
            ],
            "estimate": {"seconds": round(self.seconds), "bytes": round(self.size)},
        }


def preview_project(path: Path, policy: Policy, sources: Sequence[str] = ()) -> Preview:
    """Count what collecting this root would read. Raises RefusedProjectError."""
    root = canonical_root(path)
    try:
        repository = open_root(root)
    except RefusedProjectError as error:
        above = find_root(root.parent) if error.reason == "NOT_A_REPOSITORY" else None
        if above is None:
            raise
        hint = f"{root} is no root of a repository; did you mean {above}?"
        raise RefusedProjectError(error.reason, hint) from error
    # Not in our home: a preview leaves nothing behind anywhere.
    with (
        tempfile.TemporaryDirectory(prefix="codememory-") as scratch,
        Shadow(repository, Path(scratch), policy.redaction_key) as shadow,
        shadow.objects() as reader,
    ):
        return _count(root, shadow, reader, policy, sources or ("git", "documents"))


def _count(
    root: Path, shadow: Shadow, reader: ObjectReader, policy: Policy, wanted: Sequence[str]
) -> Preview:
    head = shadow.head()
    oids = list(shadow.reachable(head.oid)) if head.oid else []
    tree = list(shadow.tree(head.oid)) if head.oid else []
    files = _Files(policy, Eligibility(policy, read_ignores(tree, reader)), reader)
    for entry in tree:
        files.add(entry)
    changes = _changes_a_commit(shadow, reader, oids) * len(oids)
    git = {"commits": len(oids), "file_changes_about": round(changes)} | files.counts
    sources: dict[str, dict[str, int]] = {}
    seconds = size = 0.0
    if "git" in wanted:
        sources["git"] = git
        seconds += len(oids) * SECONDS_A_COMMIT + changes * SECONDS_A_FILE_CHANGE
        size += len(oids) * BYTES_A_COMMIT + changes * BYTES_A_FILE_CHANGE
    if "documents" in wanted:
        count = files.rules["documents"].count
        other = files.rules["other"].count
        sources["documents"] = {"eligible": count, "other_text_formats_not_read": other}
        seconds += count * SECONDS_A_DOCUMENT
        size += count * BYTES_A_DOCUMENT
    return Preview(
        root, head.oid, head.branch, shadow.is_shallow, sources, files.listed(), seconds, size
    )


class _Files:
    """Sorts the tracked files of HEAD under the rule that decides about each."""

    def __init__(self, policy: Policy, of_documents: Eligibility, reader: ObjectReader) -> None:
        self.policy = policy
        self.reader = reader
        self.of_documents = of_documents
        self.counts = {"tracked_files": 0, "read": 0, "recorded_but_not_read": 0}
        limit = in_bytes(policy.max_blob_bytes)
        self.rules = {
            "history": RuleCount("include", "history", "NORMAL", "all other tracked files"),
            "documents": RuleCount("include", "documents", "NORMAL", "*.md, *.markdown"),
            "own": RuleCount("exclude", "documents", "EXCLUDED", "our own blocks in documents"),
            "other": RuleCount(
                "exclude", "documents", "UNSUPPORTED_FORMAT", "documents in other formats"
            ),
            "oversize": RuleCount("exclude", "limits", "OVERSIZE", f"files over {limit}"),
            "link": RuleCount("exclude", "limits", "SYMLINK_NOT_FOLLOWED", "symbolic links"),
            "submodule": RuleCount("exclude", "limits", "SUBMODULE_NOT_READ", "submodules"),
        }
        globs = (glob for glob in of_documents.ignores.globs if not glob.startswith("!"))
        self._by_glob = {
            glob: RuleCount("exclude", "the tree's ignore file", "EXCLUDED", glob)
            for glob in (redact_path(g.encode(), policy.redaction_key).decode() for g in globs)
        }
        self._by_pattern: dict[tuple[str, str], RuleCount] = {}
        for rule in policy.rules():
            effect = "exclude" if rule.path_class in UNREAD else "include"
            row = RuleCount(effect, rule.name, rule.path_class, rule.pattern)
            self._by_pattern[rule.path_class, rule.pattern] = row
        if policy.include:
            row = RuleCount("exclude", "your include", PathClass.EXCLUDED, "not included")
            self._by_pattern[PathClass.EXCLUDED, "not included"] = row

    def add(self, entry: TreeEntry) -> None:
        self.counts["tracked_files"] += 1
        path_class, pattern = self.policy.classify(entry.path)
        by_path = self._by_pattern.get((path_class, pattern))
        if by_path is not None:
            by_path.add(entry.path)
        kind = self._kind(entry)
        if kind is None:
            self._add_document(entry)
        if path_class in UNREAD or kind is not None:
            self.counts["recorded_but_not_read"] += 1
            if path_class not in UNREAD and kind is not None:
                self.rules[kind].add(entry.path)
            return
        self.counts["read"] += 1
        if by_path is None:
            self.rules["history"].add(entry.path)

    def _add_document(self, entry: TreeEntry) -> None:
        path = entry.path
        if not (is_document(path) or is_other_text(path)):
            return
        why = self.of_documents.left_out(path)
        if why is None:
            self.rules["documents" if is_document(path) else "other"].add(path)
            if is_document(path):
                self._add_own_blocks(entry)
        elif why[1] in self._by_glob:
            self._by_glob[why[1]].add(path)

    def _add_own_blocks(self, entry: TreeEntry) -> None:
        """Count a document that holds a block which we wrote: it is read without it."""
        content = self.reader.read(entry.oid, "blob", self.policy.max_blob_bytes)
        if isinstance(content, Gap) or b"codememory:begin" not in content:
            return
        found = read_document(entry.path, entry.oid, content, self.policy).gaps
        if any(gap.detail.startswith(OWN_BLOCK) for gap in found):
            self.rules["own"].add(entry.path)

    def _kind(self, entry: TreeEntry) -> str | None:
        file_type = entry.mode & FILE_TYPE
        if file_type == LINK:
            return "link"
        if file_type != REGULAR_FILE:
            return "submodule"
        return "oversize" if (entry.size or 0) > self.policy.max_blob_bytes else None

    def listed(self) -> list[RuleCount]:
        rules = [*self.rules.values(), *self._by_glob.values(), *self._by_pattern.values()]
        return sorted(rules, key=lambda rule: not rule.count)


def _changes_a_commit(shadow: Shadow, reader: ObjectReader, oids: Sequence[str]) -> float:
    """File changes a commit, over some commits spread evenly: compared really, not guessed."""
    step = max(1, len(oids) // SAMPLE_COMMITS)
    sample = oids[::step][:SAMPLE_COMMITS]
    pairs: list[tuple[str, str | None]] = []
    for oid in sample:
        content = reader.read(oid, "commit", 1 << 20)
        if not isinstance(content, Gap):
            parents = _parents(content)
            pairs += [(oid, parent) for parent in parents] if parents else [(oid, None)]
    rows = sum(len(comparison.rows) for comparison in shadow.changes(pairs))
    return rows / len(sample) if sample else 0.0


def _parents(content: bytes) -> list[str]:
    header = content.split(b"\n\n", 1)[0]
    return [line[7:].decode("ascii") for line in header.split(b"\n") if line.startswith(b"parent ")]


def preview_lines(preview: Preview) -> list[str]:
    """The preview for people: what is read, every rule, and what it would take."""
    head = f"{preview.head[:12]} ({preview.branch or 'detached'})" if preview.head else "no commit"
    lines = [f"{preview.root}  at {head}", ""]
    if git := preview.sources.get("git"):
        shallow = ", a shallow clone: older history is not here" if preview.is_shallow else ""
        lines.append(f"  git        {count_of(git['commits'], 'commit')} reachable{shallow}")
        lines.append(
            f"             {count_of(git['tracked_files'], 'tracked file')}, "
            f"{git['recorded_but_not_read']:,} of them recorded but not read"
        )
    if documents := preview.sources.get("documents"):
        lines.append(
            f"  documents  {count_of(documents['eligible'], 'Markdown file')}; "
            f"{documents['other_text_formats_not_read']:,} in other text formats, not read"
        )
    lines += ["", "Read: tracked files by the rule that decides, with examples"]
    lines += _rule_lines(preview.rules, "include")
    lines += ["", "Not read: paths are recorded, with the reason; contents are not"]
    lines += [*_rule_lines(preview.rules, "exclude"), ""]
    lines.append(
        f"It takes about {in_time(preview.seconds)} and about {in_bytes(preview.size)} of database."
        " Nothing under the folder is changed."
    )
    return lines


def _rule_lines(rules: Iterable[RuleCount], effect: str) -> list[str]:
    """Rules that decide about files now one a line, then those that decide about none."""
    chosen = [rule for rule in rules if rule.effect == effect]
    lines: list[str] = []
    for rule in sorted((r for r in chosen if r.count), key=lambda r: -r.count):
        kind = "" if rule.path_class == "NORMAL" else f" ({rule.path_class})"
        examples = ", ".join(rule.examples) + (", …" if rule.count > EXAMPLES else "")
        lines.append(f"{rule.count:>9,}  {rule.pattern}{kind}")
        lines += wrap(examples, " " * 13)
    by_name: dict[str, list[str]] = {}
    for rule in chosen:
        if not rule.count:
            by_name.setdefault(f"{rule.name} ({rule.path_class})", []).append(rule.pattern)
    for name, patterns in by_name.items():
        first, *more = wrap(f"{name}: {' '.join(patterns)}", " " * 11)
        lines += [f"{0:>9}  {first.lstrip()}", *more]
    return lines
