"""The history of one file or symbol: what changed it, what was undone and restored, and by whom.

Everything is read from facts of content; names of authors are attributed as Git gives them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db.models import Count, Q

from codememory.ancestry import Ancestry
from codememory.checkout import Checkout
from codememory.co_changes import files_changed_with, symbols_changed_with
from codememory.cursors import cursor_after, row_of
from codememory.errors import BadCursorError
from codememory.facts import are_facts_complete
from codememory.lineage import FileLife, SymbolLife, life_of_file, life_of_symbol
from codememory.models import (
    CodeFacts,
    ContentChange,
    FileChange,
    GapRecord,
    Path,
    Policy,
    Project,
    SymbolChange,
    SymbolName,
)
from codememory.owned_rows import Step
from codememory.path_origins import open_origins
from codememory.paths import shown_path
from codememory.serving import serves_change, serves_path
from codememory.timeline_events import changed_lines, events_of, text_of
from codememory.timeline_subjects import Subject, find_subjects

MAX_LIMIT = 200
MOST_AUTHORS = 10
READ_GAPS = ("PARSE_ERROR", "NO_GRAMMAR", "PARSER_LIMIT", "DEADLINE")  # said of symbols already


@dataclass(frozen=True, slots=True)
class _Life:
    """The steps of a subject, with its symbol changes by step where it is a symbol."""

    steps: list[Step]
    changes: dict[int, list[SymbolChange]] | None
    path_ids: list[int]
    name_ids: list[int]


def history_of(
    project: Project, subject: str, *, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Answer for a path, a symbol ("refund", "OrderService.refund") or both ("src/a.py:refund").

    Events are the newest first. Where a symbol could be several ones `subject` is null and
    `choices` names them; both are empty for what is not known, and for what the newest policy does
    not show any more. Raises BadCursorError for a cursor of another project or subject.
    """
    limit = max(1, min(limit, MAX_LIMIT))
    served = Checkout(project)  # for its policy: nothing is looked up in the repository
    lives = [
        (one, _life(project.scope_id, one)) for one in find_subjects(project.scope_id, subject)
    ]
    found = [(one, kept) for one, life in lives if (kept := _served(served, life)) is not None]
    if len(found) != 1:
        if cursor is not None:
            raise BadCursorError
        choices = [_choice(project.scope_id, one, life) for one, life in found]
        return {**_nothing(project), "choices": choices}
    ((one, life),) = found
    question = (project.pk, one.path_id, one.name_id)
    before = row_of(cursor, *question) if cursor is not None else 1 << 62
    copies = _copies(project.scope_id, life.steps)
    steps = [step for step in reversed(life.steps) if step.id in copies and step.id < before]
    page = steps[:limit]
    return {
        **_nothing(project),
        "subject": one.shown(),
        "names": _names(project.scope_id, life),
        "events": events_of(
            project.scope_id, page, copies, life.changes, partial(serves_path, served)
        ),
        "total": len(copies),
        **_measures(project.scope_id, life),
        "co_changed": _co_changed(project.scope_id, life),
        "gaps": _gaps(project, life),
        "next": cursor_after(page[-1].id, *question) if len(steps) > limit else None,
    }


def _nothing(project: Project) -> dict[str, Any]:
    return {
        "project": project.slug,
        "subject": None,
        "choices": [],
        "names": [],
        "events": [],
        "total": 0,
        "churn": {"changes": 0, "added_lines": 0, "removed_lines": 0},
        "last_change": None,
        "authors": [],
        "co_changed": [],
        "gaps": [],
        "next": None,
    }


# What is meant


def _choice(scope_id: int, one: Subject, life: _Life) -> dict[str, Any]:
    return {
        **one.shown(),
        "ask": f"{one.path}:{one.name}",
        "changes": len(_copies(scope_id, life.steps)),
        "last_change": _last(scope_id, life.steps),
    }


def _life(scope_id: int, one: Subject) -> _Life:
    if one.name_id is None:
        file: FileLife = life_of_file(scope_id, one.path_id)
        return _Life(file.steps, None, file.names, [])
    symbol: SymbolLife = one.life or life_of_symbol(scope_id, one.path_id, one.name_id)
    return _Life(symbol.steps, symbol.changes, symbol.path_ids, symbol.name_ids)


def _served(checkout: Checkout, life: _Life) -> _Life | None:
    """Without the steps that are not shown; None where none is left of those there were."""
    rows = FileChange.objects.select_related("old_path", "new_path").filter(
        scope_id=checkout.scope_id, pk__in=[step.id for step in life.steps]
    )
    shown = {row.pk for row in rows if serves_change(checkout, row)}
    steps = [step for step in life.steps if step.id in shown]
    return replace(life, steps=steps) if steps or not life.steps else None


def _copies(scope_id: int, steps: Sequence[Step]) -> dict[int, list[int]]:
    """The rows of one change under its first row: cherry-picks and rebased copies are no events.

    What comes again after its own past had it already was taken back in between: that is one.
    """
    ancestry = Ancestry(scope_id)
    shown: dict[int, list[Step]] = {}
    copies: dict[int, list[int]] = {}
    for step in steps:
        of = next(
            (
                first
                for first in reversed(shown.get(step.change, []))
                if not ancestry.is_ancestor(first.commit_id, step.commit_id)
            ),
            None,
        )
        if of is None:
            shown.setdefault(step.change, []).append(step)
            copies[step.id] = [step.id]
        else:
            copies[of.id].append(step.id)
    return copies


# What is said of it


def _names(scope_id: int, life: _Life) -> list[dict[str, Any]]:
    """Its paths, then its own names, each the oldest first."""
    paths = Path.objects.filter(scope_id=scope_id).in_bulk(life.path_ids)
    names = SymbolName.objects.filter(scope_id=scope_id).in_bulk(life.name_ids)
    shown = [{"path": shown_path(bytes(paths[p].raw)), "symbol": None} for p in life.path_ids]
    return shown + [{"path": None, "symbol": names[n].qualified} for n in life.name_ids]


def _measures(scope_id: int, life: _Life) -> dict[str, Any]:
    contents = ContentChange.objects.filter(scope_id=scope_id)
    lines = contents.in_bulk([step.content for step in life.steps])
    commits = {step.commit_id for step in life.steps}
    authors: Counter[str] = Counter()
    names = FileChange.objects.filter(scope_id=scope_id, commit_id__in=commits)
    for _, name in set(names.values_list("commit_id", "commit__author_name")):
        authors[text_of(name)] += 1
    return {
        "churn": {
            "changes": len({step.commit_id for step in life.steps}),
            "added_lines": sum(_lines(life, lines, step)[0] for step in life.steps),
            "removed_lines": sum(_lines(life, lines, step)[1] for step in life.steps),
        },
        "last_change": _last(scope_id, life.steps),
        "authors": [{"name": n, "changes": c} for n, c in authors.most_common(MOST_AUTHORS)],
    }


def _lines(life: _Life, contents: dict[int, ContentChange], step: Step) -> tuple[int, int]:
    """Lines that a step adds and removes; for a symbol those of the hunks that touch it."""
    content = contents[step.content]
    if life.changes is None and step.hunk_numbers is None:
        return content.added_lines, content.removed_lines
    hunks = content.hunks()
    numbers = set(step.hunk_numbers or range(1, len(hunks) + 1))
    if life.changes is not None:
        numbers &= {n for change in life.changes[step.id] for n in change.hunk_numbers}
    chosen = [hunks[n - 1] for n in numbers]
    return changed_lines(chosen, None if life.changes is None else life.changes[step.id])


def _last(scope_id: int, steps: Sequence[Step]) -> dict[str, Any] | None:
    if not steps:
        return None
    row = FileChange.objects.select_related("commit").get(scope_id=scope_id, pk=steps[-1].id)
    return {
        "commit": row.commit.oid,
        "change": f"L{row.logical_change_id}",
        "author_time": row.commit.author_time,
    }


def _co_changed(scope_id: int, life: _Life) -> list[dict[str, Any]]:
    ids = [step.id for step in life.steps]
    rows = FileChange.objects.filter(scope_id=scope_id, pk__in=ids)
    changes = list(set(rows.values_list("logical_change_id", flat=True)))
    known = [change for change in changes if change is not None]
    if life.changes is None:
        return files_changed_with(scope_id, known, life.path_ids)
    # What stands in it changes with it as a matter of course.
    inside = {change.name_id for found in life.changes.values() for change in found}
    return symbols_changed_with(scope_id, known, list(inside | set(life.name_ids)))


def _gaps(project: Project, life: _Life) -> list[dict[str, Any]]:
    """What this history does not know."""
    gaps = []
    policy = Policy.objects.filter(scope_id=project.scope_id).latest("generation")
    if not are_facts_complete(project.scope_id, policy.generation):
        gaps.append(_gap("NOT_YET_PROCESSED", None, "symbols and reversals are still being read"))
    contents = {step.content for step in life.steps}
    facts = CodeFacts.objects.filter(scope_id=project.scope_id, content_change_id__in=contents)
    for coverage, reason, count in _grouped(facts):
        if coverage == "TEXTUAL_ONLY":
            text = f"{_counted(count, 'change')} compared as text only ({reason})"
            gaps.append(_gap("TEXTUAL_ONLY", count, text))
        elif coverage == "PARTIAL":
            noun = "change holds" if count == 1 else "changes hold"
            text = f"{count} {noun} code that the grammar did not understand"
            gaps.append(_gap(reason or "PARSE_ERROR", count, text))
    arrived = [step.id for step in life.steps if step.kind in {"A", "R"}]
    doubtful = open_origins(project.scope_id).filter(file_change_id__in=arrived)
    if count := doubtful.count():
        text = f"{count} files are equally good as its origin; nobody has chosen one yet"
        gaps.append(_gap("ORIGIN_OPEN", count, text))
    gaps += [
        _gap("SKIPPED_FILES", count, f"{_counted(count, 'version')} not read ({reason})")
        for reason, count in _skipped(project.scope_id, life)
    ]
    return gaps


def _skipped(scope_id: int, life: _Life) -> list[tuple[str, int]]:
    """Versions that were not read, or not all of them, by reason.

    Documents are recorded by path; history by object, since each is read once for all its paths.
    """
    contents = ContentChange.objects.filter(
        scope_id=scope_id, pk__in={step.content for step in life.steps}
    )
    oids = {oid for pair in contents.values_list("old_oid", "new_oid") for oid in pair if oid}
    rows = GapRecord.objects.filter(scope_id=scope_id).exclude(reason__in=READ_GAPS)
    found = rows.filter(Q(path_id__in=life.path_ids) | Q(path=None, object_oid__in=oids))
    counts = found.values_list("reason").annotate(n=Count("object_oid", distinct=True))
    return [(reason, max(1, count)) for reason, count in counts.order_by("reason")]


def _counted(count: int, noun: str) -> str:
    """`1 version was`, `2 versions were`."""
    return f"{count} {noun} was" if count == 1 else f"{count} {noun}s were"


def _grouped(facts: Any) -> Iterable[tuple[str, str | None, int]]:
    rows = facts.values_list("coverage", "reason").annotate(n=Count("id"))
    return list(rows.order_by("coverage", "reason"))


def _gap(reason: str, count: int | None, text: str) -> dict[str, Any]:
    return {"reason": reason, "count": count, "text": text}
