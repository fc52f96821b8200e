"""Pages of rows that can be read and nothing else: no adding, changing or deleting, by no method.

They are what every number of the coverage dashboard links to: a page prints how many rows pass its
filters, and the measure that the number's address asks for.
"""

# ruff: noqa: ARG002 -- Django names the arguments

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.admin import ModelAdmin
from django.core.exceptions import SuspiciousOperation
from django.db import connection
from django.db.models import (
    Aggregate,
    BinaryField,
    DecimalField,
    Field,
    Model,
    QuerySet,
    Sum,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from review.admin_filters import MeasureFilter, ProjectFilter, has_scope
from review.templatetags.review_extras import visible

SECRET = frozenset({"digest"})  # of tokens and links: not shown, though only digests
DIGESTS = ("sha256", "digest", "digests", "identity")
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

    def get_list_filter(self, request: HttpRequest) -> Any:
        project = [ProjectFilter] if has_scope(self.model) else []
        return [*project, *self.list_filter, *self.more_filters, MeasureFilter]

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
            _readable(field) if isinstance(field, BinaryField) else field.name
            for field in self.model._meta.concrete_fields
            if field.name not in SECRET or not _is_secret(self.model)
        ]

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


def _readable(field: Field[Any, Any]) -> Callable[[Any], SafeString | str]:
    """Return a column of bytes as text: digests in hex, anything else with its controls shown."""

    def shown(row: Any) -> SafeString | str:
        value = getattr(row, field.name)
        if value is None:
            return "none"
        raw = bytes(value)
        if field.name.endswith(DIGESTS):
            return raw[:MAX_SHOWN].hex() or "none"
        return visible(raw[:MAX_SHOWN].decode("utf-8", "backslashreplace"))

    shown.__name__ = field.name
    shown.short_description = field.verbose_name  # type: ignore[attr-defined]
    return shown
