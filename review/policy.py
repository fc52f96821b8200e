"""What may be read of a project: everybody in it sees that, a lead changes it after a preview."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from codememory.models import Policy
from codememory.paths import shown_path
from codememory.policies import PolicyMovedError, newest_policy, set_policy, values_of
from codememory.policy_keys import Values, difference, difference_lines
from codememory.policy_preview import EFFECTS, Effect, PolicyPreview, preview_policy
from codememory.policy_runs import request_reading
from review.access import Visit, project_page, require_lead
from review.policy_form import STATE_WORDS, Fields, PolicyForm, fields_of, words_of
from review.shell import shell, valid

GENERATIONS = 10
PATHS_SHOWN = 1_000  # of one rule
HEADS = {
    "included": ("Newly read", "The next run reads them."),
    "excluded": ("No longer read", "Their paths are still recorded, no byte of them is read."),
    "dropped": ("No longer served", "Evidence of them is kept, and answers as if it were absent."),
}


@dataclass(frozen=True, slots=True)
class Group:
    """The paths of one effect that one rule decides about."""

    source: str
    rule: str
    paths: list[str]
    count: int


@dataclass(frozen=True, slots=True)
class Section:
    """One effect of a change: how many paths have it, by rule."""

    effect: str
    title: str
    meaning: str
    count: int
    groups: list[Group]


@project_page
def policy(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the policy: as a form to a lead, as facts to others."""
    row = newest_policy(visit.project)
    return _page(request, visit, row, fields_of(row.generation, words_of(values_of(row)), {}))


@project_page
def preview(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show to the path what the typed values would change."""
    if request.method != "POST":
        return redirect("review:policy", slug=visit.project.slug)
    require_lead(request, visit)
    typed = _typed(request, visit)
    row = typed.row
    if typed.form.opened_generation != row.generation:
        return _moved(request, visit, typed)
    if typed.errors:
        return _marked(request, visit, typed)
    found = preview_policy(visit.project, typed.values)
    if not found.difference:
        refusal = f"That is generation {row.generation} as it stands: there is nothing to change."
        return _page(request, visit, row, typed.fields, refusal=refusal)
    context = {
        **shell(request, visit, "policy"),
        "row": row,
        "number": row.generation + 1,
        "preview": found,
        "differences": difference_lines(found.difference),
        "sections": _sections(found),
        "fields": typed.fields,
    }
    return render(request, "review/policy_preview.html", context)


@project_page
def edit(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the form again with what was typed."""
    if request.method != "POST":
        return redirect("review:policy", slug=visit.project.slug)
    require_lead(request, visit)
    typed = _typed(request, visit)
    if typed.form.opened_generation != typed.row.generation:
        return _moved(request, visit, typed)
    return _page(request, visit, typed.row, typed.fields)


@project_page
def confirm(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Make what was previewed the next generation."""
    if request.method != "POST":
        return redirect("review:policy", slug=visit.project.slug)
    require_lead(request, visit)
    typed = _typed(request, visit)
    opened = typed.form.opened_generation
    if typed.errors:
        return _marked(request, visit, typed)
    try:
        new = set_policy(
            visit.project, typed.values, opened=opened, actor=visit.actor, by="console"
        )
    except PolicyMovedError:
        return _moved(request, visit, _typed(request, visit))
    if new is not None:
        said = f"Generation {new.generation} holds from now on."
        messages.info(request, " ".join([said, *_sentences(request_reading(visit.project))]))
    return redirect("review:policy", slug=visit.project.slug)


def _sentences(notes: list[str]) -> list[str]:
    return [f"{note}." for note in notes]


@dataclass(frozen=True, slots=True)
class Typed:
    """What a lead typed, read against the newest generation."""

    form: PolicyForm
    row: Policy
    values: Values
    errors: dict[str, str]
    fields: Fields


def _typed(request: HttpRequest, visit: Visit) -> Typed:
    form = valid(PolicyForm(request.POST))
    row = newest_policy(visit.project)
    values, errors = form.values(values_of(row))
    return Typed(form, row, values, errors, fields_of(row.generation, form.words(), errors))


def _marked(request: HttpRequest, visit: Visit, typed: Typed) -> HttpResponse:
    refusal = "Nothing was changed: see what is marked below."
    return _page(request, visit, typed.row, typed.fields, refusal=refusal, status=422)


def _moved(request: HttpRequest, visit: Visit, typed: Typed) -> HttpResponse:
    """Somebody was faster: say what they changed, and keep what was typed."""
    row, opened = typed.row, typed.form.opened_generation
    before = Policy.objects.filter(scope_id=visit.project.scope_id, generation=opened).first()
    since = difference_lines(difference(values_of(before), values_of(row))) if before else []
    by = row.actor.name if row.actor else "the command line"
    refusal = (
        f"Nothing was changed: {by} made generation {row.generation} since you opened this page."
        " Your entries are below; what differs from it now is what you would change."
    )
    return _page(request, visit, row, typed.fields, refusal=refusal, since=since, status=409)


def _sections(found: PolicyPreview) -> list[Section]:
    counts = found.counts()
    return [
        Section(effect, *HEADS[effect], counts[effect], _groups(found.effects, effect))
        for effect in EFFECTS
        if counts[effect]
    ]


def _groups(effects: list[Effect], wanted: str) -> list[Group]:
    by_rule: dict[tuple[str, str], list[bytes]] = {}
    for effect in effects:
        if effect.effect == wanted:
            by_rule.setdefault((effect.source, effect.rule), []).append(effect.path)
    groups = [
        Group(source, rule, [shown_path(p) or "" for p in paths[:PATHS_SHOWN]], len(paths))
        for (source, rule), paths in by_rule.items()
    ]
    return sorted(groups, key=lambda group: (-group.count, group.rule))


@dataclass(frozen=True, slots=True)
class Generation:
    row: Policy
    lines: list[str]


def _generations(visit: Visit) -> list[Generation]:
    """The newest generations, each with what it changed."""
    rows = Policy.objects.filter(scope_id=visit.project.scope_id).select_related("actor")
    newest = list(rows.order_by("-generation")[: GENERATIONS + 1])
    pairs = zip(newest, [*newest[1:], None], strict=True)
    return [
        Generation(row, difference_lines(_since(before, row)) if before else [])
        for row, before in pairs
    ][:GENERATIONS]


def _since(before: Policy, row: Policy) -> dict[str, dict[str, object]]:
    return difference(values_of(before), values_of(row))


def _page(
    request: HttpRequest,
    visit: Visit,
    row: Policy,
    fields: Fields,
    *,
    refusal: str | None = None,
    since: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    values: Values = values_of(row)
    context = {
        **shell(request, visit, "policy"),
        "row": row,
        "values": values,
        "fields": fields,
        "states": STATE_WORDS,
        "generations": _generations(visit),
        "refusal": refusal,
        "since": since or [],
    }
    return render(request, "review/policy.html", context, status=status)
