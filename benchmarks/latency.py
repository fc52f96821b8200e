"""How long do `search` and `engineering_context` take over a million rows? `latency.py`.

Questions are subject lines of real commits, sentences and headings of real documents. Each is asked
in this process, over REST of a server as `up` starts it, and over MCP; without and with a path.
Every statement is planned too: one that walks a large table fails the measurement. `--keep` and
the repositories are those of `big.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.pop(0)  # this folder: its names hide modules of Python
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.big import add_arguments, big_project
from benchmarks.fx import subjects
from benchmarks.throwaway import git

if TYPE_CHECKING:
    from codememory.models import Project

BARS = {"search": 50.0, "context": 150.0}  # milliseconds, the 95th of a hundred
WARM_UP = 5
PACE = 0.27  # seconds from one request to the next: a token has 240 a minute
PORT = 18_743
Ask = Callable[[str, str, str | None], None]  # (search or context, question, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--questions", type=int, default=200, metavar="N")
    parser.add_argument("--doors", nargs="*", default=["process", "REST", "MCP"])
    options = parser.parse_args()
    with big_project(options) as project:
        asked = questions(project, options.questions)
        paths = some_paths(project, options.questions)
        print(f"{len(asked)} questions, {rows_of(project)}; load {load()}")
        print("| asked | of | p50 | p95 | max | CPU p50 | CPU p95 |\n|---|---|---|---|---|---|---|")
        found = []
        for door in options.doors:
            with DOORS[door](project) as ask:
                found += [measured(door, ask, *case) for case in cases(asked, paths)]
        walks = walked(project, asked[:20], paths[:20])
        print(f"load afterwards {load()}; statements that walk a large table: {len(walks)}")
        for statement, tables in walks.items():
            print(f"  {', '.join(sorted(tables))}: {statement[:300]}")
    print(json.dumps({"measured": found, "load": load(), "walks": sorted(walks)}))
    sys.exit(1 if walks else 0)


def cases(
    asked: Sequence[str], paths: Sequence[str]
) -> Iterator[tuple[str, Sequence[str], Sequence[str | None]]]:
    for what in BARS:
        yield what, asked, [None] * len(asked)
        yield what, asked, paths


def measured(
    door: str, ask: Ask, what: str, asked: Sequence[str], paths: Sequence[str | None]
) -> dict[str, Any]:
    """Ask everything once; milliseconds as waited for and of work (ours and the database's)."""
    for question in asked[-WARM_UP:]:
        ask(what, question, paths[-1])
    waited, worked, slow = [], [], ("", 0.0)
    cpu_now = meter()
    for question, path in zip(asked, paths, strict=True):
        cpu, started = cpu_now(), time.perf_counter()
        ask(what, question, path)
        waited.append((time.perf_counter() - started) * 1000)
        worked.append((cpu_now() - cpu) * 1000)
        slow = max(slow, (f"{question} {path or ''}", worked[-1]), key=lambda one: one[1])
        if door != "process":
            time.sleep(max(0.0, PACE - waited[-1] / 1000))
    figures = {name: round(at(waited, share), 1) for name, share in SHARES.items()}
    figures |= {f"cpu_{name}": round(at(worked, share), 1) for name, share in SHARES.items()}
    name = f"{what}, {'with' if paths[0] is not None else 'without'} path"
    cpu_told = [f"{figures[f'cpu_{n}']}" for n in ("p50", "p95")]
    shown = [f"{figures[n]}" for n in SHARES] + cpu_told
    print(f"| {name} | {door} | " + " | ".join(shown) + " |", flush=True)
    return {"door": door, "asked": name, "bar": BARS[what], **figures, "most_work": slow[0][:200]}


SHARES = {"p50": 0.5, "p95": 0.95, "max": 1.0}


def at(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def load() -> str:
    return ", ".join(f"{one:.1f}" for one in os.getloadavg())


def meter() -> Callable[[], float]:
    """Tells seconds of processor time so far: of this process and its session of the database, to
    the nanosecond; or of the server that is asked and the whole database, to ten milliseconds.
    """
    from django.db import connection  # noqa: PLC0415 -- needs the settings

    from benchmarks.processes import parent_of, processor_seconds, worked_seconds  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (session,) = cursor.fetchone()

    def seconds() -> float:
        times = os.times()
        own = time.process_time() + times.children_user + times.children_system
        return own + worked_seconds(session)

    def seconds_over_http() -> float:
        # Threads and sessions end with their request: only what they belong to knows of them.
        return sum(processor_seconds(pid) for pid in (_servers[-1], parent_of(session)))

    return seconds_over_http if _servers else seconds


_servers: list[int] = []  # the web process that is asked


def questions(project: Project, most: int) -> list[str]:
    """Half subject lines; of the others half sentences of documents, half about headings."""
    from codememory.models import EvidenceSegment  # noqa: PLC0415 -- needs Django

    drawn = random.Random(1)
    lines = [subject for _, subject in subjects(Path(project.root))]
    rows = EvidenceSegment.objects.filter(scope_id=project.scope_id, kind="paragraph")
    sentences, headings = [], []
    for content, heading in rows.order_by("pk").values_list("content", "heading_path")[:5000]:
        text = " ".join(bytes(content).decode("utf-8", "replace").split())
        first = text.partition(". ")[0]
        if 6 <= len(first.split()) <= 30:
            sentences.append(f"why {first[:1].lower()}{first[1:]}?")
        if heading:
            headings.append(f"what did we say about {heading[-1].lower()} and how is it done now?")
    found = drawn.sample(sorted(set(lines)), most - most // 2)
    found += drawn.sample(sorted(set(sentences)), most // 4)
    found += drawn.sample(sorted(set(headings)), most // 2 - most // 4)
    drawn.shuffle(found)
    return found


def some_paths(project: Project, most: int) -> list[str]:
    """Files of HEAD that the repositories had and, every third, folders of them."""
    names = git(Path(project.root), "ls-files", "-z").decode("utf-8", "replace").split("\0")
    drawn = random.Random(2).choices(
        [name for name in names if name and not name.startswith("part")], k=most
    )
    return [
        name.rpartition("/")[0] or name if place % 3 == 0 else name
        for place, name in enumerate(drawn)
    ]


def rows_of(project: Project) -> str:
    from codememory.models import Candidate, Path, SearchTotal  # noqa: PLC0415 -- needs Django

    total = SearchTotal.objects.get(scope_id=project.scope_id)
    counts = [
        model.objects.filter(scope_id=project.scope_id).count() for model in (Candidate, Path)
    ]
    return (
        f"{total.changes:,} changes and {total.texts:,} texts in the index, "
        f"{counts[0]:,} candidates, {counts[1]:,} paths"
    )


def ask_recall(project: Project, what: str, question: str, path: str | None) -> None:
    from codememory import recall  # noqa: PLC0415 -- needs Django

    if what == "search":
        recall.search(project, question, path=path)
    else:
        recall.engineering_context(project, question, paths=[path] if path else [])


@contextmanager
def in_process(project: Project) -> Iterator[Ask]:
    yield lambda what, question, path: ask_recall(project, what, question, path)


@contextmanager
def over_rest(project: Project) -> Iterator[Ask]:
    import httpx2  # noqa: PLC0415 -- of the MCP client's own

    with served(project) as token, httpx2.Client(timeout=60) as http:
        http.headers["Authorization"] = f"Bearer {token}"
        base = f"http://127.0.0.1:{PORT}/api/v1/projects/{project.slug}"

        def ask(what: str, question: str, path: str | None) -> None:
            asked = {"q" if what == "search" else "task": question} | (
                {"path": path} if path else {}
            )
            http.get(f"{base}/{what}", params=asked).raise_for_status()

        yield ask


@contextmanager
def over_mcp(project: Project) -> Iterator[Ask]:
    import anyio.from_thread  # noqa: PLC0415
    import httpx2  # noqa: PLC0415 -- of the MCP client's own
    from mcp import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    with served(project) as token, anyio.from_thread.start_blocking_portal() as portal:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
        transport = streamable_http_client(f"http://127.0.0.1:{PORT}/mcp", http_client=http)
        with portal.wrap_async_context_manager(Client(transport)) as client:

            def ask(what: str, question: str, path: str | None) -> None:
                values: dict[str, Any] = {"project": project.slug}
                values |= {"query" if what == "search" else "task": question}
                if path:
                    values |= {"path": path} if what == "search" else {"paths": [path]}
                name = "search_history" if what == "search" else "engineering_context"
                answer = portal.call(client.call_tool, name, values)
                if answer.is_error:
                    raise SystemExit(f"{name}: {answer.content}")

            yield ask


@contextmanager
def served(project: Project) -> Iterator[str]:
    """The web process as `up` starts it, and a token that may read the project."""
    from codememory.supervisor import web_command  # noqa: PLC0415 -- needs Django
    from codememory.tokens import create_token  # noqa: PLC0415

    _, token = create_token("bench", [project], ["read"])
    root = Path(__file__).resolve().parent.parent
    with subprocess.Popen(web_command(PORT), cwd=root) as server:
        try:
            _wait_for(server)
            _servers.append(server.pid)
            yield token
        finally:
            _servers.clear()
            server.terminate()


def _wait_for(server: subprocess.Popen[bytes]) -> None:
    import httpx2  # noqa: PLC0415

    for _ in range(240):
        if server.poll() is not None:
            raise SystemExit("the server ended")
        try:
            httpx2.get(f"http://127.0.0.1:{PORT}/healthz")
        except httpx2.TransportError:
            time.sleep(0.5)
        else:
            return
    raise SystemExit("the server does not answer")


DOORS = {"process": in_process, "REST": over_rest, "MCP": over_mcp}


def walked(project: Project, asked: Sequence[str], paths: Sequence[str]) -> dict[str, set[str]]:
    """The statements of searches and contexts that walk a large table, with the tables."""
    from benchmarks.plans import watched  # noqa: PLC0415 -- needs Django

    with watched(planning=True) as seen:
        for question, path in zip(asked, paths, strict=True):
            for what in BARS:
                for place in (None, path):
                    ask_recall(project, what, question, place)
    return seen.walks


if __name__ == "__main__":
    main()
