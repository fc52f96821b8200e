"""Several candidates at once: the preview, its confirmation, and the one undo for the whole."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from codememory.models import Candidate
from review.access import Visit, project_page, require_decider
from review.actions import MAX_REASON, NO_REASON, one_line
from review.batches import MAX_BATCH, BatchAction, decide_together, preview, undo_batch
from review.forms import BatchForm, BatchUndoForm, Pick, PreviewForm
from review.last_acts import remember_batch
from review.outcomes import BatchDecided, BatchStopped
from review.queue import group_of, next_open
from review.shell import asked_in, filters_in, queue_address, shell, valid
from review.words import why_secret


@project_page
def bulk(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show what an action would do with the selected candidates, or do it."""
    require_decider(request, visit)
    if request.method == "POST":
        return _confirm(request, visit)
    action = BatchAction(valid(PreviewForm(request.GET)).cleaned_data["action"])
    asked, filters = asked_in(request), filters_in(request)
    groups = group_of(visit.project, filters, asked["g"])
    numbers = [*dict.fromkeys([*asked["c"], *groups])]
    return _preview_page(request, visit, action, numbers)


@project_page
def bulk_undo(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Take back what was decided together."""
    if request.method != "POST":
        return redirect(queue_address(visit))
    require_decider(request, visit)
    batch = valid(BatchUndoForm(request.POST)).cleaned_data["batch"]
    undone = undo_batch(visit.project, batch, actor=visit.actor)
    filters = filters_in(request)
    if undone.decisions and undone.decisions[0].batch:
        remember_batch(request, visit.project, undone.decisions[0].batch)
    if not undone.left and undone.decisions:
        return redirect(queue_address(visit) + filters.query())
    context = {**shell(request, visit, "queue", filters), "undone": undone}
    return render(request, "review/bulk_undone.html", context, status=409)


def _confirm(request: HttpRequest, visit: Visit) -> HttpResponse:
    form = valid(BatchForm(request.POST))
    action = BatchAction(form.cleaned_data["action"])
    picks: list[Pick] = form.cleaned_data["pick"]
    numbers = [pick.number for pick in picks]
    reason = one_line(form.cleaned_data["reason"])
    if len(" ".join(form.cleaned_data["reason"].split())) > MAX_REASON:
        refusal = f"Say it in {MAX_REASON} characters or fewer."
        return _preview_page(request, visit, action, numbers, refusal=refusal)
    if secret := why_secret(reason):
        return _preview_page(request, visit, action, numbers, refusal=secret)
    if action == BatchAction.REJECT and not reason:
        return _preview_page(request, visit, action, numbers, refusal=NO_REASON)
    found = Candidate.objects.filter(scope_id=visit.project.scope_id).in_bulk(numbers)
    if len(found) != len(set(numbers)):
        raise Http404
    shown = [(found[pick.number], pick.shown) for pick in picks]
    outcome = decide_together(action, shown, reason=reason, actor=visit.actor)
    match outcome:
        case BatchDecided(batch, _):
            remember_batch(request, visit.project, batch)
            filters = filters_in(request)
            last = max(found.values(), key=lambda one: one.pk)
            here = next_open(visit.project, filters, last)
            return redirect(queue_address(visit) + filters.query(at=here.pk if here else None))
        case BatchStopped():
            return _preview_page(request, visit, action, numbers, stopped=outcome)


def _preview_page(
    request: HttpRequest,
    visit: Visit,
    action: BatchAction,
    numbers: list[int],
    *,
    refusal: str | None = None,
    stopped: BatchStopped | None = None,
) -> HttpResponse:
    """Show what would happen; after a confirmation that decided nothing, say why it did not."""
    filters, chosen = filters_in(request), asked_in(request)
    context = {
        **shell(request, visit, "queue", filters),
        "action": action,
        "preview": preview(visit.project, action, numbers, visit.actor),
        "refusal": refusal,
        "stopped": stopped,
        "reason": request.POST.get("reason", ""),
        "back_query": filters.query(c=chosen["c"] or numbers[:MAX_BATCH], g=chosen["g"]),
    }
    status = 409 if stopped else 422 if refusal else 200
    return render(request, "review/bulk.html", context, status=status)
