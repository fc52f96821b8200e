"""Filters of the row pages that the dashboard's numbers link to; each lives in the address."""

# ruff: noqa: ARG002 -- Django names the arguments

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Exists, Model, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime

from codememory.models import (
    CandidateState,
    DecisionAction,
    GitCommit,
    Project,
    RefSnapshot,
    ReviewDecision,
    Run,
    RunState,
)

MAX_PROJECTS = 40  # named in the list of filters; the address takes any
NEEDING = (RunState.FAILED, RunState.POISONED)
_NUMBER = re.compile(r"[0-9]{1,18}")


class ProjectFilter(SimpleListFilter):
    """Rows of one project, by its name."""

    title = "project"
    parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        if model_admin.only_scope is not None:
            return []
        slugs = Project.objects.order_by("slug").values_list("slug", flat=True)[:MAX_PROJECTS]
        found = list(slugs)
        if (value := self.value()) and value not in found:
            found.append(value)
        return [(slug, slug) for slug in found]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        scopes = Project.objects.filter(slug=self.value()).values_list("scope_id", flat=True)
        return queryset.filter(scope_id__in=list(scopes))


class AddressFilter(SimpleListFilter):
    """A filter that only an address sets: shown, with a way to drop it, where it is set."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        value = self.value()
        return [(value, self.words(value))] if value else []

    def words(self, value: str) -> str:
        return value

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if not value:
            return queryset
        narrowed = self.narrowed(queryset, value)
        return queryset.none() if narrowed is None else narrowed

    def narrowed(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any] | None:
        """Return the rows that pass; None where the value is none of ours."""
        raise NotImplementedError


class WorktreeFilter(AddressFilter):
    """Rows of one worktree; those of a gap are the ones of its run."""

    title = "worktree"
    parameter_name = "worktree"
    column = "worktree_id"

    def narrowed(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any] | None:
        if not _NUMBER.fullmatch(value):
            return None
        return queryset.filter(**{self.column: int(value)})


class GapWorktreeFilter(WorktreeFilter):
    column = "run__worktree_id"


class ReachableFilter(AddressFilter):
    """The commits that a finished HEAD reaches, as its snapshot says."""

    title = "reached by"
    parameter_name = "reached_by"

    def words(self, value: str) -> str:
        return f"snapshot {value}"

    def narrowed(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any] | None:
        found = RefSnapshot.objects.filter(pk=int(value)) if _NUMBER.fullmatch(value) else None
        snapshot = found.first() if found is not None else None
        if snapshot is None:
            return None
        # A snapshot speaks of the rows there were then: the first ones, as ids only grow.
        rows = GitCommit.objects.filter(scope_id=snapshot.scope_id).order_by("pk")
        next_one = rows[snapshot.stored_commits : snapshot.stored_commits + 1]
        later = next_one.values_list("pk", flat=True).first()
        then = queryset.filter(scope_id=snapshot.scope_id)
        then = then if later is None else then.filter(pk__lt=later)
        return then.exclude(pk__in=snapshot.unreachable) if snapshot.unreachable else then


class LatestFilter(AddressFilter):
    """The newest snapshot of each worktree: the HEAD that is covered now."""

    title = "newest of each worktree"
    parameter_name = "latest"

    def narrowed(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any] | None:
        if value != "yes":
            return None
        newest = RefSnapshot.objects.order_by("scope_id", "worktree_id", "-captured_at", "-pk")
        numbers = newest.distinct("scope_id", "worktree_id").values_list("pk", flat=True)
        return queryset.filter(pk__in=list(numbers))


class NeedsYouFilter(AddressFilter):
    """Runs that ended badly and that no later run of the same source made up for."""

    title = "needs you"
    parameter_name = "needs"

    def narrowed(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any] | None:
        return queryset.filter(needing()) if value == "you" else None


def needing() -> Q:
    """Tell the runs that a person has to look at."""
    later = Run.objects.filter(
        scope_id=OuterRef("scope_id"),
        worktree_id=OuterRef("worktree_id"),
        source=OuterRef("source"),
        pk__gt=OuterRef("pk"),
    )
    return Q(Q(state__in=NEEDING), ~Exists(later))


class OpenAtFilter(AddressFilter):
    """Candidates that were open at a moment: proposed by then, and the last decision by then
    left them open."""

    title = "open at"
    parameter_name = "open_at"

    def narrowed(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any] | None:
        try:
            moment = parse_datetime(value)
        except ValueError:
            return None
        return None if moment is None else open_at(queryset, moment)


def open_at(candidates: QuerySet[Any], moment: datetime) -> QuerySet[Any]:
    """Narrow candidates to those that were open at a moment."""
    last = ReviewDecision.objects.filter(
        scope_id=OuterRef("scope_id"), candidate_id=OuterRef("pk"), created_at__lt=moment
    )
    # What is endorsed waits for its second reviewer as what it was.
    last = last.exclude(action=DecisionAction.ENDORSE)
    last = last.exclude(undoes__action=DecisionAction.ENDORSE).order_by("-pk")
    reopened = Q(last_action=DecisionAction.UNDO, last_restored=CandidateState.PENDING)
    found: QuerySet[Any] = (
        candidates.filter(created_at__lt=moment)
        .annotate(
            last_action=Subquery(last.values("action")[:1]),
            last_restored=Subquery(last.values("undoes__candidate_state")[:1]),
        )
        .filter(Q(last_action=None) | reopened)
    )
    return found


class MeasureFilter(AddressFilter):
    """Asks the page to print a measure over its rows; it leaves out none of them."""

    title = "measured"
    parameter_name = "measure"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        value = self.value()
        measure = model_admin.measure_named(value) if value else None
        return [(value, measure.label)] if value and measure else []

    def narrowed(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any] | None:
        return queryset


def has_scope(model: type[Model]) -> bool:
    return any(field.name == "scope" for field in model._meta.get_fields())
