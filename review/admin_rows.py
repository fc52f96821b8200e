"""Pages of rows that can be read and nothing else: no adding, changing or deleting, by no method.

They are what every number of the coverage dashboard links to: a page prints how many rows pass its
filters, and the measure that the number's address asks for.
"""

# ruff: noqa: ARG002 -- Django names the arguments

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.admin import ModelAdmin
from django.core.exceptions import SuspiciousOperation
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import (
    Aggregate,
    BinaryField,
    BooleanField,
    DateTimeField,
    DecimalField,
    JSONField,
    Model,
    QuerySet,
    Sum,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from review.admin_filters import MeasureFilter, ProjectFilter, has_scope
from review.row_counts import AboutPaginator
from review.templatetags.review_extras import moment, visible

TRANSLATED = (BinaryField, BooleanField, DateTimeField, JSONField)
SECRET = frozenset({"digest"})  # of tokens and links: not shown, though only digests
DIGESTS = ("sha256", "digest", "digests", "identity")
NO_FILTERS = frozenset({"project", "measure", "o", "p"})  # of an address: all else narrows rows
MAX_SHOWN = 20_000  # bytes of a binary column on a row's page


@dataclass(frozen=True, slots=True)
class Measure:
    """What a page of rows can print beside their count: an aggregate, and how it is written."""

    label: str
    unit: str  # "bytes", "seconds", "moment" or "" for a plain number
    aggregate: Aggregate | None  # None: the table's size, which has no rows to it


def metric(key: str) -> Sum:
    """Sum what runs recorded under a key, exactly."""
    number = DecimalField(max_digits=30, decimal_places=6)
    return Sum(Cast(KeyTextTransform(key, "metrics"), number))


if TYPE_CHECKING:
    AnyModelAdmin = ModelAdmin[Any]
else:  # Django's own class takes no parameter when it runs
    AnyModelAdmin = ModelAdmin


class Rows(AnyModelAdmin):
    """A table's rows, read-only; `only_scope` narrows them to one project's."""

    actions = None
    list_per_page = 50
    show_full_result_count = False
    list_select_related: ClassVar[Any] = False
    more_filters: Sequence[Any] = ()
    measures: dict[str, Measure] = {}
    only_scope: int | None = None
    is_always_counted = False  # a number of the dashboard links to all of them
    change_form_template = "admin/row.html"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.only_scope is not None or self.admin_site.has_permission(request)

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows if self.only_scope is None else rows.filter(scope_id=self.only_scope)

    def get_paginator(self, request: HttpRequest, queryset: Any, *options: Any, **more: Any) -> Any:
        """Rows that no filter narrows but the project are not counted where they are many."""
        is_narrowed = any(name not in NO_FILTERS for name in request.GET)
        of = Paginator if is_narrowed or self.is_always_counted else AboutPaginator
        return of(queryset, *options, **more)

    def get_list_filter(self, request: HttpRequest) -> Any:
        project = [ProjectFilter] if has_scope(self.model) else []
        return [*project, *self.list_filter, *self.more_filters, MeasureFilter]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        if lookup.split("__", maxsplit=1)[0] in SECRET and _is_secret(self.model):
            return False
        return bool(super().lookup_allowed(lookup, value, request))  # type: ignore[arg-type]

    def measure_named(self, name: str) -> Measure | None:
        if name == "table_bytes" and self.only_scope is None:
            return Measure("size of the whole table, indexes included", "bytes", None)
        return self.measures.get(name)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if any("\x00" in text for pair in request.GET.items() for text in pair):
            raise SuspiciousOperation("a NUL in an address")
        answer = super().changelist_view(request, extra_context)
        context = getattr(answer, "context_data", None) or {}
        if rows := context.get("cl"):
            name = request.GET.get("measure", "")
            context["measure"] = measure = self.measure_named(name) if name else None
            context["measured"] = self._measured(measure, rows.queryset) if measure else None
            context["chosen"] = _chosen(rows, request)
        return answer

    def _measured(self, measure: Measure, rows: QuerySet[Any]) -> Any:
        if measure.aggregate is not None:
            return rows.order_by().aggregate(all=measure.aggregate)["all"]
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_total_relation_size(%s)", [self.model._meta.db_table])
            return cursor.fetchone()[0]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [
            readable(field) if isinstance(field, TRANSLATED) else field.name
            for field in self.model._meta.concrete_fields
            if field.name not in SECRET or not _is_secret(self.model)
        ]

    def get_list_display(self, request: HttpRequest) -> Any:
        return readable_columns(self.model, self.list_display)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_fields(request, obj)


def _is_secret(model: type[Model]) -> bool:
    return model.__name__ in {"ApiToken", "SignInLink"}


def _chosen(rows: Any, request: HttpRequest) -> list[tuple[str, str]]:
    """What the address asks for beyond the filters that the page lists."""
    told = {name for spec in rows.filter_specs for name in spec.expected_parameters()}
    own = {"q", "o", "p", "e", "all", "_facets", *told}
    asked = [(name, str(value)) for name, value in request.GET.items() if name not in own]
    return [(name.replace("__", " "), value) for name, value in asked]


def readable_columns(model: type[Model], names: Sequence[Any]) -> list[Any]:
    """Put columns that a person can read in the place of those that Django would show its way."""
    fields = {field.name: field for field in model._meta.concrete_fields}
    return [
        readable(fields[name])
        if isinstance(name, str) and isinstance(fields.get(name), TRANSLATED)
        else name
        for name in names
    ]


def readable(field: Any) -> Callable[[Any], SafeString | str]:
    """Return a column as text: bytes, times, yes or no, and JSON as a person reads them."""

    def shown(row: Any) -> SafeString | str:
        value = getattr(row, field.name)
        if value is None:
            return "none"
        if isinstance(field, DateTimeField):
            return format_html('<time datetime="{}">{}</time>', value.isoformat(), moment(value))
        if isinstance(field, BooleanField):
            return "yes" if value else "no"
        if isinstance(field, JSONField):
            return visible("\n".join(_lines(value))) or "none"
        return _text(field, bytes(value)[:MAX_SHOWN])

    shown.__name__ = field.name
    shown.admin_order_field = field.name  # type: ignore[attr-defined]
    shown.short_description = field.verbose_name  # type: ignore[attr-defined]
    return shown


def _text(field: Any, raw: bytes) -> SafeString | str:
    """Digests in hex, anything else with its controls shown."""
    if field.name.endswith(DIGESTS):
        return raw.hex() or "none"
    return visible(raw.decode("utf-8", "backslashreplace")) or "none"


def _lines(value: Any) -> list[str]:
    """One line a name of an object, in the order of names."""
    if isinstance(value, dict):
        return [f"{name}: {_line(value[name])}" for name in sorted(value)]
    return [_line(value)] if value else []


def _line(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
