"""Is a commit found by what it did, when every message is `fx`? `fx.py REPO...`.

Rewrites the history of a clone with every message `fx`, collects it, and asks the original subject
lines; a plain BM25 over the same diffs answers beside it. Nothing of a message is in either.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

sys.path.pop(0)  # this folder: its names hide modules of Python
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.plain_bm25 import PlainBM25
from benchmarks.throwaway import git, plain_environment, register, throwaway_database

if TYPE_CHECKING:
    from codememory.models import Project

# Named before anything of them was measured; nothing was or is tuned on them.
HELD_OUT = (
    "vitejs/vite",
    "tiangolo/fastapi",
    "Seldaek/monolog",
    "elixir-plug/plug",
    "gitleaks/gitleaks",
)
QUESTIONS = 300
LEAST_WORDS = 4
CHANGED_CHARACTERS = 20_000  # of a commit's changed lines that the BM25 reads
HITS = 500
# They say nothing of a diff: bumps (of dependencies too), merges, releases.
_SKIPPED = re.compile(
    r"\b(?:bump(?:s|ed|ing)?|merge[ds]?|merging|releas(?:e|es|ed|ing)|version)\b"
    r"|\(deps|\bdependenc(?:y|ies)\b|^v?\d+\.\d",
    re.IGNORECASE,
)
_EXPORT = (
    "fast-export", "--no-data", "--show-original-ids", "--signed-tags=strip", "--reencode=no",
    "--fake-missing-tagger", "HEAD",
)  # fmt: skip


@dataclass
class Ranks:
    """Where the right commit stood for each question; None: not among the hits."""

    places: list[int | None] = field(default_factory=list)

    def hit(self, most: int) -> float:
        return sum(p is not None and p <= most for p in self.places) / max(1, len(self.places))

    def mrr(self) -> float:
        return sum(1 / p for p in self.places if p) / max(1, len(self.places))

    def figures(self) -> dict[str, float]:
        shown = {f"hit@{most}": round(self.hit(most), 3) for most in (1, 5, 10)}
        return shown | {"mrr": round(self.mrr(), 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repos", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=QUESTIONS, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| repository | commits | questions | plain BM25 @1/@5/@10, MRR | search | ratio | p95 |")
    print("|---|---|---|---|---|---|---|")
    found = [measure(repo, options.questions, options.seed) for repo in options.repos]
    ratios = [one["ratio"] for one in found]
    mean = round(sum(ratios) / len(ratios), 3)
    print(json.dumps({"repositories": found, "mean_ratio": mean, "least_ratio": min(ratios)}))


def measure(repo: Path, questions: int, seed: int) -> dict[str, Any]:
    plain = plain_index(repo)
    asked = sampled(subjects(repo), plain, questions, seed)
    plain_ranks = Ranks([plain.rank(subject, {oid}) for oid, subject in asked])
    with tempfile.TemporaryDirectory(prefix="codememory-fx-") as folder, throwaway_database():
        started = time.process_time()
        clone, renamed = rewrite(repo, Path(folder))
        project = register(clone)
        collect_history(project)
        cost = time.process_time() - started
        ranks, milliseconds = ask(project, [(renamed[oid], subject) for oid, subject in asked])
        from django.db import connections  # noqa: PLC0415 -- Django is set up by now

        connections.close_all()  # the next repository has a server of its own
    name = repo.parent.name if repo.name == "repo" else repo.name
    ratio = round(ranks.mrr() / max(plain_ranks.mrr(), 1e-9), 3)
    p95 = sorted(milliseconds)[int(len(milliseconds) * 0.95)]
    base, ours = (
        "/".join(f"{one.hit(k):.3f}" for k in (1, 5, 10)) + f", {one.mrr():.3f}"
        for one in (plain_ranks, ranks)
    )
    print(
        f"| {name} | {len(renamed):,} | {len(asked)} | {base} | {ours} | {ratio:.2f} "
        f"| {p95:.1f} ms |",
        flush=True,
    )
    return {
        "repository": name,
        "head": git(repo, "rev-parse", "HEAD").decode().strip(),
        "commits": len(renamed),
        "questions": len(asked),
        "plain": plain_ranks.figures(),
        "search": ranks.figures(),
        "ratio": ratio,
        "search_ms_p50": round(sorted(milliseconds)[len(milliseconds) // 2], 1),
        "search_ms_p95": round(p95, 1),
        "collect_cpu_seconds": round(cost, 1),
    }


def subjects(repo: Path) -> list[tuple[str, str]]:
    """Every commit but merges with a subject line that can be asked."""
    log = git(repo, "log", "-z", "--no-merges", "--format=%H%x01%s", "HEAD")
    rows = (row.decode("utf-8", "replace").partition("\x01") for row in log.split(b"\0") if row)
    return [
        (oid.strip(), subject)
        for oid, _, subject in rows
        if len(subject.split()) >= LEAST_WORDS and not _SKIPPED.search(subject)
    ]


def sampled(
    rows: Sequence[tuple[str, str]], plain: PlainBM25, most: int, seed: int
) -> list[tuple[str, str]]:
    changing = sorted(row for row in rows if row[0] in plain)
    return random.Random(seed).sample(changing, min(most, len(changing)))


def plain_index(repo: Path) -> PlainBM25:
    """Paths and the first of the changed lines of every commit but merges, as git prints them."""
    found = PlainBM25()
    for oid, text in diffs(repo):
        found.add(oid, text)
    return found


def diffs(repo: Path) -> Iterator[tuple[str, str]]:
    command = ["git", "-C", str(repo), "log", "-p", "-M", "-U0", "--no-merges", "--no-color",
               "--no-ext-diff", "--no-textconv", "--format=%x01%H", "HEAD"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=plain_environment()) as process:
        assert process.stdout
        oid, paths, changed, size = "", set[str](), list[str](), 0
        for raw in process.stdout:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            if line.startswith("\x01"):
                if paths:
                    yield oid, "\n".join([*sorted(paths), *changed])
                oid, paths, changed, size = line[1:], set(), [], 0
            elif line.startswith("diff --git "):
                paths.update(name[2:] for name in line[11:].split(" ") if name[1:2] == "/")
            elif line.startswith(("+++ ", "--- ")) or size >= CHANGED_CHARACTERS:
                continue
            elif line.startswith(("+", "-")):
                changed.append(line[1 : CHANGED_CHARACTERS - size + 1])
                size += len(changed[-1]) + 1
        if paths:
            yield oid, "\n".join([*sorted(paths), *changed])
    if process.returncode:  # a missing object: the end of the stream is not the end of history
        raise SystemExit(f"{repo}: git log ended with {process.returncode}")


def rewrite(repo: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """Clone with every message `fx`; returns it with the new id of each commit.

    The trees stay: every commit's is compared with the original's.
    """
    clone, marks = folder / "repo", folder / "marks"
    git(folder, "clone", "-q", "--no-checkout", "--no-tags", str(repo), str(clone))
    branch = git(clone, "symbolic-ref", "--short", "HEAD").decode().strip()
    before = trees(clone)
    base = ["git", "-C", str(clone)]
    importing = ["fast-import", "--quiet", "--date-format=raw-permissive"]
    importing.append(f"--export-marks={marks}")
    env, pipe = plain_environment(), subprocess.PIPE
    with (
        subprocess.Popen([*base, *_EXPORT], stdout=pipe, env=env) as export,
        subprocess.Popen([*base, *importing], stdin=pipe, env=env) as read,
    ):
        assert export.stdout
        assert read.stdin
        originals = _rename(export.stdout, read.stdin)
        read.stdin.close()
    if export.returncode or read.returncode:
        raise SystemExit(f"{repo}: the history could not be rewritten")
    new = dict(line.split() for line in marks.read_text().splitlines())
    renamed = {oid: new[mark] for mark, oid in originals.items()}
    git(clone, "symbolic-ref", "HEAD", "refs/heads/fx")
    git(clone, "remote", "remove", "origin")
    git(clone, "branch", "-q", "-D", branch)
    after = trees(clone)
    for oid, tree in before.items():
        other = after[renamed[oid]]
        # Modes that git no longer writes (100664) make another tree of the same content.
        if tree != other and git(clone, "diff", "--raw", tree, other):
            raise SystemExit(f"{repo}: {oid} has another tree when rewritten")
    return clone, renamed


def trees(clone: Path) -> dict[str, str]:
    log = git(clone, "log", "--format=%H %T", "HEAD").decode()
    return dict(line.split() for line in log.splitlines())


def _rename(source: IO[bytes], target: IO[bytes]) -> dict[str, str]:
    """Copy the stream with other messages; returns the original id of each mark."""
    originals: dict[str, str] = {}
    mark = ""
    for line in source:
        out = line
        if line.startswith((b"commit ", b"reset ")):
            out = line.split(b" ")[0] + b" refs/heads/fx\n"
        elif line.startswith(b"mark "):
            mark = line[5:].strip().decode()
        elif line.startswith(b"original-oid "):
            originals[mark] = line[13:].strip().decode()
        elif line.startswith(b"encoding "):
            continue
        elif line.startswith(b"data "):
            source.read(int(line[5:]))
            out = b"data 3\nfx\n"
        target.write(out)
    return originals


def collect_history(project: Project) -> None:
    """Work the run off as a worker does, up to where the history and its index are written."""
    from codememory import runs  # noqa: PLC0415 -- needs Django
    from codememory.collect_history import history_batches  # noqa: PLC0415
    from codememory.models import Run  # noqa: PLC0415
    from codememory.projects import primary_worktree  # noqa: PLC0415
    from codememory.search.entries import settle_index  # noqa: PLC0415
    from codememory.slices import Heartbeat  # noqa: PLC0415

    run = runs.request_run(primary_worktree(project), "git", 1, None)
    claim = runs.claim_run(run.pk)
    assert claim
    with Heartbeat(claim):
        for _ in history_batches(claim):
            row = Run.objects.get(pk=run.pk)
            if row.phase == "history" and row.total and row.done >= row.total:
                break
    settle_index()


def ask(project: Project, asked: Sequence[tuple[str, str]]) -> tuple[Ranks, list[float]]:
    """Rank each subject's own commit; a hit is one wherever any commit shows that change."""
    from codememory.models import FileChange  # noqa: PLC0415 -- needs Django
    from codememory.search.query import search  # noqa: PLC0415

    shown: dict[str, set[int]] = {}
    rows = FileChange.objects.filter(logical_change__isnull=False)
    for oid, change in rows.values_list("commit__oid", "logical_change_id").iterator():
        shown.setdefault(oid, set()).add(change)
    ranks, milliseconds = Ranks(), []
    for oid, subject in asked:
        started = time.perf_counter()
        page = search([project.scope_id], subject, ["change"], limit=HITS)
        milliseconds.append((time.perf_counter() - started) * 1000)
        places = (n for n, hit in enumerate(page.hits, 1) if hit.target_id in shown.get(oid, ()))
        ranks.places.append(next(places, None))
    return ranks, milliseconds


if __name__ == "__main__":
    main()
