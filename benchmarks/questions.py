"""Does a question in other words find the section that answers it? `questions.py CLONE`.

Collects the Markdown of the commit that `labelled/questions.tsv` names and asks its questions; a
plain BM25 over the same segments answers beside it.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tarfile
import tempfile
import time
from pathlib import Path

sys.path.pop(0)  # this folder: its names hide modules of Python
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.fx import Ranks
from benchmarks.plain_bm25 import PlainBM25
from benchmarks.throwaway import collect, git, register, throwaway_database

QUESTIONS = Path(__file__).parent / "labelled" / "questions.tsv"
HITS = 100
Row = tuple[str, str, str]  # question, document, heading


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--missed", action="store_true", help="list what is not among the first 5")
    options = parser.parse_args()
    name, commit, rows = labelled()
    with tempfile.TemporaryDirectory(prefix="codememory-questions-") as folder:
        root = documents(options.clone, commit, Path(folder) / "documents")
        with throwaway_database():
            plain, ours, p95 = ask(root, rows, is_missed_shown=options.missed)
    print(f"\n{name} at {commit[:12]}, {len(rows)} questions\n")
    print("| | hit@1 | hit@5 | hit@10 | MRR |\n|---|---|---|---|---|")
    for label, ranks in (("plain BM25", plain), ("search", ours)):
        print(f"| {label} | " + " | ".join(f"{n:.3f}" for n in ranks.figures().values()) + " |")
    figures = {"plain": plain.figures(), "search": ours.figures(), "search_ms_p95": round(p95, 1)}
    print(json.dumps({"repository": name, "commit": commit, "questions": len(rows), **figures}))


def labelled() -> tuple[str, str, list[Row]]:
    head, *lines = QUESTIONS.read_text("utf-8").splitlines()
    name, commit = head.lstrip("# ").split(":")[0].split()
    rows = [line.split("\t") for line in lines if line]
    return name, commit, [(question, path, heading) for question, path, heading in rows]


def documents(clone: Path, commit: str, root: Path) -> Path:
    """A repository of one commit that holds the Markdown of that one."""
    root.mkdir()
    archive = git(clone, "archive", "--format=tar", commit, ":(glob)**/*.md")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(root, filter="data")
    git(root, "init", "-q")
    git(root, "add", "-A")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    git(root, *identity, "commit", "-q", "-m", "fx")
    return root


def ask(root: Path, rows: list[Row], *, is_missed_shown: bool) -> tuple[Ranks, Ranks, float]:
    from codememory.models import EvidenceSegment  # noqa: PLC0415 -- needs Django
    from codememory.search.query import search  # noqa: PLC0415

    project = register(root)
    collect(project, "git")
    collect(project, "documents")
    plain, held = PlainBM25(), dict[tuple[str, str], set[int]]()
    for segment in EvidenceSegment.objects.select_related("revision__path"):
        path = bytes(segment.revision.path.raw).decode("utf-8", "replace")
        body = bytes(segment.content).decode("utf-8", "replace")
        plain.add(str(segment.pk), "\n".join([path, *segment.heading_path, body]))
        if segment.heading_path:
            held.setdefault((path, segment.heading_path[-1]), set()).add(segment.pk)
    ranks, others, milliseconds = Ranks(), Ranks(), []
    for question, path, heading in rows:
        right = held.get((path, heading), set())
        if not right:
            raise SystemExit(f"{path} has no heading {heading!r}")
        started = time.perf_counter()
        hits = search([project.scope_id], question, ["section"], limit=HITS).hits
        milliseconds.append((time.perf_counter() - started) * 1000)
        places = (place for place, hit in enumerate(hits, 1) if hit.target_id in right)
        ranks.places.append(next(places, None))
        others.places.append(plain.rank(question, {str(pk) for pk in right}))
        if is_missed_shown and (ranks.places[-1] or HITS) > 5:
            print(f"{ranks.places[-1]} (plain {others.places[-1]}): {question} -> {heading}")
    return others, ranks, sorted(milliseconds)[int(len(milliseconds) * 0.95)]


if __name__ == "__main__":
    main()
