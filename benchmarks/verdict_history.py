"""A repository's history as the verdict benchmark needs it: rows, blobs, names, inverses, truth."""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import pygit2

from codememory.verdicts import HunkCase, Inverse, PathHistory
from codememory.verdicts.lines import normalise
from collectors.values import Hunk

MAX_FILES = 200  # of one commit: a vendored tree should not cost a minute
MAX_SIZE = 2 << 20
_GENERATED = re.compile(
    rb"(?:^|/)(?:vendor|node_modules|dist|_vendor|third_party)/|\.min\.(?:js|css)$|\.lock$"
    rb"|(?:^|/)(?:package-lock\.json|go\.sum)$|\.(?:svg|po|pot|map|less\.css)$|(?:^|/)static/css/"
    rb"|\.html-(?:github|nolinks)$|(?:^|/)templates/docs/.*\.html"
)

Row = tuple[str, str, str, bytes, bytes]  # kind, old oid, new oid, old path, new path
Signature = tuple[tuple[bytes, ...], tuple[bytes, ...]]


def reviewable(path: bytes) -> bool:
    return _GENERATED.search(path) is None


def hunks_between(old: bytes, new: bytes) -> list[Hunk]:
    patch = pygit2.Patch.create_from(old, new, context_lines=0)
    if patch is None or patch.delta.is_binary:
        return []
    old_at, new_at = _offsets(old), _offsets(new)
    found = []
    for hunk in patch.hunks:
        old_first = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        new_first = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        ranges = (
            old_at[old_first],
            old_at[old_first + hunk.old_lines],
            new_at[new_first],
            new_at[new_first + hunk.new_lines],
        )
        found.append(
            Hunk(
                hunk.old_start,
                hunk.old_lines,
                hunk.new_start,
                hunk.new_lines,
                *ranges,
                sha256(old[ranges[0] : ranges[1]]).digest(),
                sha256(new[ranges[2] : ranges[3]]).digest(),
            )
        )
    return found


def _offsets(content: bytes) -> list[int]:
    offsets = [0]
    at = content.find(b"\n")
    while at >= 0:
        offsets.append(at + 1)
        at = content.find(b"\n", at + 1)
    if offsets[-1] != len(content):
        offsets.append(len(content))
    return offsets


class History:
    def __init__(self, repo: Path) -> None:
        self._repo = repo
        self._objects = subprocess.Popen(
            ["git", "-C", repo, "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.blob = lru_cache(maxsize=4096)(self._object)
        order = self._git("rev-list", "--topo-order", "--reverse", "HEAD").split()
        self.ordinals = {oid.decode(): at for at, oid in enumerate(order)}
        self.head = self._read_head()
        self.rows: dict[str, list[Row]] = {}
        self.names = self._read_rows()
        self._inverses: dict[Signature, list[str]] = {}
        self._read_inverses()
        self._alive: dict[str, set[tuple[bytes, int]]] = defaultdict(set)

    def _git(self, *arguments: str) -> bytes:
        command = ["git", "-C", str(self._repo), *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def _object(self, name: str) -> bytes | None:
        """A blob's bytes; None when there is no such object, or it is no file of a usual size."""
        stdin, stdout = self._objects.stdin, self._objects.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("git cat-file has no pipes")
        stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
        stdin.flush()
        header = stdout.readline().split()
        if header[-1] == b"missing" or len(header) < 3:
            return None
        content = stdout.read(int(header[2]))
        stdout.read(1)
        return content if header[1] == b"blob" and len(content) <= MAX_SIZE else None

    def blob_at(self, commit: str, path: bytes) -> bytes | None:
        if b"\n" in path:
            return None
        return self._object(f"{commit}:{path.decode('utf-8', 'surrogateescape')}")

    def _read_head(self) -> dict[bytes, str]:
        found = {}
        for entry in self._git("ls-tree", "-r", "-z", "HEAD").split(b"\0"):
            if entry.startswith((b"100644", b"100755")):
                meta, path = entry.split(b"\t", 1)
                found[path] = meta.split()[2].decode()
        return found

    def _read_rows(self) -> PathHistory:
        renames: list[tuple[int, bytes, bytes]] = []
        additions: list[tuple[int, bytes]] = []
        raw = self._git(
            "log", "--topo-order", "--reverse", "-m", "--raw", "-z", "-M50%", "-l0", "--no-abbrev",
            "--root", "--format=%x01%H %P", "HEAD",
        )  # fmt: skip
        for block in raw.split(b"\x01")[1:]:
            head, _, rest = block.partition(b"\0")
            commit, *parents = head.decode().split()
            rows = list(_parse_rows(rest))
            ordinal = self.ordinals[commit]
            for kind, _, _, old_path, new_path in rows:
                if kind == "R":
                    renames.append((ordinal, old_path, new_path))
                elif kind == "A" and len(parents) < 2:
                    additions.append((ordinal, new_path))
            if len(parents) < 2:
                self.rows[commit] = rows
        return PathHistory(renames, additions, self.head.__contains__)

    def cases(self, commit: str) -> list[HunkCase]:
        """The cases of an ordinary commit's reviewable text files."""
        found = []
        for kind, old_oid, new_oid, old_path, new_path in self.rows[commit][:MAX_FILES]:
            if kind not in "AMR" or not reviewable(new_path):
                continue
            old, new = (None if kind == "A" else self.blob(old_oid)), self.blob(new_oid)
            if new is None or (old is None and kind != "A"):
                continue
            found += [
                HunkCase(
                    commit_oid=commit,
                    ordinal=self.ordinals[commit],
                    old_path=None if kind == "A" else old_path,
                    new_path=new_path,
                    old_oid=None if kind == "A" else old_oid,
                    new_oid=new_oid,
                    old_content=old,
                    new_content=new,
                    hunk=hunk,
                )
                for hunk in hunks_between(old or b"", new)
            ]
        return found

    def _read_inverses(self) -> None:
        process = subprocess.Popen(
            ["git", "-C", self._repo, "-c", "diff.indentHeuristic=false", "log", "--topo-order",
             "--reverse", "--no-merges", "-p", "-U0", "-M", "--format=%x01%H", "HEAD"],
            stdout=subprocess.PIPE,
        )  # fmt: skip
        if process.stdout is None:
            raise RuntimeError("git log has no pipe")
        commit = ""
        removed: list[bytes] = []
        added: list[bytes] = []
        for line in process.stdout:
            if line.startswith((b"@@", b"diff ", b"\x01")):
                if removed or added:
                    key = (tuple(removed), tuple(added))
                    self._inverses.setdefault(key, []).append(commit)
                removed, added = [], []
                if line.startswith(b"\x01"):
                    commit = line[1:].decode().strip()
            elif line.startswith(b"-") and not line.startswith(b"--- "):
                removed.append(normalise(line[1:]))
            elif line.startswith(b"+") and not line.startswith(b"+++ "):
                added.append(normalise(line[1:]))
        if process.wait():
            raise RuntimeError("git log failed: an object may be missing")

    def inverse(self, case: HunkCase) -> Inverse | None:
        hunk = case.hunk
        if hunk is None:
            return None
        old = (case.old_content or b"")[hunk.old_start : hunk.old_end]
        new = (case.new_content or b"")[hunk.new_start : hunk.new_end]
        for commit in self._inverses.get((_normals(new), _normals(old)), ()):
            if self.ordinals[commit] > case.ordinal:
                return Inverse(commit, self._share_undone(case.commit_oid, commit))
        return None

    def _share_undone(self, commit: str, later: str) -> float:
        done, undone = self._signed(commit), self._signed(later)
        total = done.total()
        opposite = Counter({(-sign, line): count for (sign, line), count in undone.items()})
        return (done & opposite).total() / total if total else 0.0

    @lru_cache(maxsize=512)  # noqa: B019 - one history lives as long as the program
    def _signed(self, commit: str) -> Counter[tuple[int, bytes]]:
        signed: Counter[tuple[int, bytes]] = Counter()
        for line in self._git("show", "-U0", "--format=", commit).split(b"\n"):
            if line[:1] in {b"+", b"-"} and line[:4] not in {b"+++ ", b"--- "}:
                signed[1 if line[:1] == b"+" else -1, normalise(line[1:])] += 1
        return signed

    def learn_truth(self, commits: set[str]) -> None:
        """Blame every reviewable file of HEAD; remember what is alive of these commits."""
        paths = [path for path in self.head if reviewable(path) and self.blob(self.head[path])]
        with ThreadPoolExecutor(max_workers=2) as pool:
            for report in pool.map(self._blame, paths):
                self._note_alive(report, commits)

    def _blame(self, path: bytes, commit: str = "HEAD", *options: str) -> bytes:
        command = ["git", "-C", str(self._repo), "blame", "-w", "-M", "-C", "--incremental"]
        command += [*options, commit, "--", path.decode("utf-8", "surrogateescape")]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def _note_alive(self, report: bytes, commits: set[str]) -> None:
        commit, first, count = "", 0, 0
        for line in report.split(b"\n"):
            words = line.split()
            if len(words) == 4 and len(words[0]) == 40 and words[1].isdigit():
                commit, first, count = words[0].decode(), int(words[1]), int(words[3])
            elif line.startswith(b"filename ") and commit in commits:
                path = _unquoted(line[9:])
                self._alive[commit].update((path, first + at) for at in range(count))

    def is_alive(self, case: HunkCase, line: int) -> bool:
        return (case.new_path or b"", line) in self._alive[case.commit_oid]

    def credited(self, case: HunkCase) -> set[int]:
        """Lines of the hunk that blame, at the commit itself, credits to it.

        It credits moved and copied lines to where they came from: of those it is no judge.
        """
        hunk, path = case.hunk, case.new_path
        if hunk is None or path is None:
            return set()
        span = f"{hunk.new_line},+{hunk.new_lines}"
        report = self._blame(path, case.commit_oid, "-L", span)
        found: set[int] = set()
        for line in report.split(b"\n"):
            words = line.split()
            if len(words) == 4 and words[0] == case.commit_oid.encode() and words[1].isdigit():
                found.update(range(int(words[2]), int(words[2]) + int(words[3])))
        return found


def _parse_rows(rest: bytes) -> list[Row]:
    fields = rest.lstrip(b"\n").split(b"\0")
    rows: list[Row] = []
    at = 0
    while at < len(fields):
        meta = fields[at].lstrip(b"\n")
        if not meta.startswith(b":"):
            at += 1
            continue
        _, new_mode, old_oid, new_oid, kind = meta.decode().split()
        old_path = new_path = fields[at + 1]
        at += 2
        if kind[0] in "RC":
            new_path = fields[at]
            at += 1
        if new_mode in {"100644", "100755", "000000"}:
            rows.append((kind[0], old_oid, new_oid, old_path, new_path))
    return rows


def _normals(content: bytes) -> tuple[bytes, ...]:
    lines = content.split(b"\n")
    return tuple(normalise(line) for line in (lines[:-1] if lines[-1] == b"" else lines))


def _unquoted(path: bytes) -> bytes:
    if not path.startswith(b'"'):
        return path
    return path[1:-1].decode("unicode_escape").encode("latin-1")
