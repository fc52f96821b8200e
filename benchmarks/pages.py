"""What does each page of the console and the dashboard cost: `pages.py --keep FOLDER`.

Asks for every page on the project of `big.py` as its lead, who is staff too, through Django's whole
stack without a network. A page over 200 ms (the 95th of a hundred) or 150 kB is named with its
slowest statements and the large tables that its statements walk.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.pop(0)  # this folder: its names hide modules of Python
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.big import add_arguments, big_project, reviewer
from benchmarks.latency import at, load, meter, questions, rows_of, some_paths

if TYPE_CHECKING:
    from django.test import Client

    from codememory.models import Project

MOST_MS, MOST_BYTES = 200.0, 150_000
TIMES, LEAST = 4, 24  # each address, after once to warm up; and a page in all, or more often
QUEUE = (
    "", "?sort=new", "?sort=conflict", "?sort=sure", "?type=decision", "?modality=REQUIREMENT",
    "?flag=INSTRUCTION_LIKE", "?conflict=yes", "?age=older", "?claimed=nobody", "?state=rejected",
    "?state=deferred", "?each=yes", "?q=must+be", "?q=api&sort=new", "?source=documents",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--only", default="", help="pages whose name holds this")
    options = parser.parse_args()
    with big_project(options) as project:
        from django.test import Client  # noqa: PLC0415 -- needs the settings

        client = Client(headers={"host": "127.0.0.1"})
        client.force_login(reviewer(project), backend="django.contrib.auth.backends.ModelBackend")
        client.get("/projects/")  # loads every page
        gc.collect()
        gc.freeze()  # as the server does when it starts
        print(f"{rows_of(project)}; load {load()}")
        print(
            "| page | p50 ms | p95 ms | CPU p95 ms | statements | kB |\n|---|---|---|---|---|---|"
        )
        found = [
            measured(client, name, addresses)
            for name, addresses in pages(project).items()
            if options.only in name
        ]
        missed = [page for page in found if not page["is_within"]]
        for page in missed:
            tell(client, page)
    print(json.dumps({"pages": found, "missed": len(missed), "load": load()}))
    sys.exit(1 if missed else 0)


def measured(client: Client, name: str, addresses: list[str]) -> dict[str, Any]:
    """Ask for each address several times; the slowest address is kept for who looks closer."""
    from benchmarks.plans import watched  # noqa: PLC0415 -- needs Django

    waited, worked, size, statements, slowest = [], [], 0, 0, ("", 0.0)
    times = max(TIMES, -(-LEAST // len(addresses)))
    cpu_now = meter()
    for address in addresses:
        with watched() as seen:
            answer = client.get(address)
        if answer.status_code != 200:
            print(f"{address} answers {answer.status_code}", file=sys.stderr)
        size, statements = max(size, len(answer.content)), max(statements, len(seen.ran))
        for _ in range(times):
            cpu, started = cpu_now(), time.perf_counter()
            client.get(address)
            waited.append((time.perf_counter() - started) * 1000)
            worked.append((cpu_now() - cpu) * 1000)
        slowest = max(slowest, (address, min(worked[-times:])), key=lambda one: one[1])
    p95, cpu = at(waited, 0.95), at(worked, 0.95)
    shown = [f"{at(waited, 0.5):.0f}", f"{p95:.0f}", f"{cpu:.0f}", f"{statements}"]
    print(f"| {name} | " + " | ".join([*shown, f"{size / 1000:.0f}"]) + " |", flush=True)
    return {
        "page": name,
        "p50": round(at(waited, 0.5), 1),
        "p95": round(p95, 1),
        "cpu_p95": round(cpu, 1),
        "bytes": size,
        "slowest": slowest[0],
        "is_within": p95 <= MOST_MS and size <= MOST_BYTES,
    }


def tell(client: Client, page: dict[str, Any]) -> None:
    """Say what the slowest address of a page does."""
    from benchmarks.plans import watched  # noqa: PLC0415 -- needs Django

    with watched(planning=True) as seen:
        client.get(page["slowest"])
    print(
        f"\n{page['page']}: {page['slowest']} ({page['cpu_p95']} ms of work, {page['bytes']} bytes)"
    )
    for ms, statement in seen.slowest():
        if ms > MOST_MS / 10:
            print(f"  {ms} ms: {statement[:600]}")
    for statement, tables in seen.walks.items():
        print(f"  walks {', '.join(sorted(tables))}: {statement[:300]}")


def pages(project: Project) -> dict[str, list[str]]:
    """Addresses of every page by its name, several of those that take arguments."""
    base = f"/projects/{project.slug}"
    asked = [question.replace(" ", "+") for question in questions(project, 40)]
    paths = some_paths(project, 6)
    words = [f"?q={one}" for one in asked[:6]]
    return {
        "home": ["/", "/projects/", "/keys/", "/accounts/"],
        "queue": [f"{base}/review/{query}" for query in QUEUE],
        "queue of a path": [f"{base}/review/?path={path}" for path in paths],
        "candidate": list(_candidates(project, base)),
        "knowledge": [f"{base}/knowledge/", *(f"{base}/knowledge/{one}" for one in words)],
        "knowledge, narrowed": [
            f"{base}/knowledge/{words[n]}&{narrowed}"
            for n, narrowed in enumerate(
                ("kind=candidate", "standing=reviewed", "verdict=HISTORICAL", f"path={paths[1]}")
            )
        ],
        "knowledge, lists": [
            f"{base}/knowledge/?kind={kind}"
            for kind in ("change", "section", "candidate", "memory")
        ],
        "ask": [f"{base}/ask/", *(f"{base}/ask/?task={one}" for one in asked[6:12])],
        "ask, with a path": [
            f"{base}/ask/?task={one}&paths={path}"
            for one, path in zip(asked[12:16], paths, strict=False)
        ],
        "history": [f"{base}/history/"],
        "history of a path": [f"{base}/history/?subject={path}" for path in paths],
        "change": [f"{base}/changes/L{pk}/" for pk in _drawn(project, "LogicalChange", 6)],
        "document": [f"{base}/documents/D{pk}/" for pk in _drawn(project, "SourceRevision", 4)],
        "evidence": [f"{base}/evidence/S{pk}/" for pk in _drawn(project, "EvidenceSegment", 4)],
        "renames": [f"{base}/renames/", f"{base}/renames/?state=settled"],
        "coverage": [f"{base}/coverage/"],
        "verdicts": [f"{base}/coverage/verdicts/"],
        "disk": [f"{base}/coverage/disk/"],
        "audit": [f"{base}/audit/", "/audit/"],
        "policy": [f"{base}/policy/"],
        "people and tokens": [f"{base}/people/", f"{base}/tokens/"],
        "status and more": [f"{base}/status/", "/status/", f"{base}/more/"],
        "dashboard": ["/admin/", f"/admin/?project={project.slug}"],
        "dashboard, verdicts": [f"/admin/verdicts/?project={project.slug}"],
        "dashboard, tables": ["/admin/database/", f"/admin/database/?project={project.slug}"],
        **dict(_row_pages()),
    }


def _candidates(project: Project, base: str) -> Iterator[str]:
    for pk in _drawn(project, "Candidate", 6):
        yield f"{base}/candidates/{pk}/"
    pk = _drawn(project, "Candidate", 1)[0]
    for form in ("edit/", "narrow/", "context/", "merge/"):
        yield f"{base}/candidates/{pk}/{form}"


def _drawn(project: Project, model: str, most: int) -> list[int]:
    """Numbers of rows from the first to the last, evenly."""
    from django.apps import apps  # noqa: PLC0415 -- needs the settings

    table: Any = apps.get_model("codememory", model)
    rows = table.objects.filter(scope_id=project.scope_id)
    first = rows.order_by("pk").values_list("pk", flat=True)[0]
    last = rows.order_by("-pk").values_list("pk", flat=True)[0]
    wanted = [first + (last - first) * place // most for place in range(most)]
    return [rows.filter(pk__gte=pk).order_by("pk").values_list("pk", flat=True)[0] for pk in wanted]


def _row_pages() -> Iterator[tuple[str, list[str]]]:
    """The list of each table of the dashboard, and the page of one of its rows."""
    from django.urls import reverse  # noqa: PLC0415 -- needs the settings

    import review.admin  # noqa: F401, PLC0415 -- it registers them
    from review.admin_site import coverage_site  # noqa: PLC0415

    shown: Any = coverage_site._registry  # noqa: SLF001 -- there is no other list
    for model in shown:
        about = model._meta
        if about.app_label != "codememory":
            continue  # accounts are an administrator's
        name = f"admin:{about.app_label}_{about.model_name}"
        addresses = [reverse(f"{name}_changelist")]
        row = model.objects.order_by("-pk").first()
        if row is not None:
            addresses.append(reverse(f"{name}_change", args=[row.pk]))
        yield f"rows of {about.model_name}", addresses


if __name__ == "__main__":
    main()
