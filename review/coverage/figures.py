"""Numbers of the dashboard and their links: each opens the rows that it counts or sums."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse

from codememory.models import Project

Value = int | Decimal | datetime
PAGE_PROJECTS = 25  # in the tables of a page; totals are of all


@dataclass(frozen=True, slots=True)
class Figure:
    """A value, the page of its rows, and how it is written.

    `unit` is "" for a count or a plain sum, else "bytes", "seconds" or "moment" (shown as an age).
    `is_about`: nobody counted; the database reckons, for the page that it leads to as well.
    """

    value: Value
    href: str
    unit: str = ""
    is_about: bool = False

    @property
    def exact(self) -> str:
        """The value as the page of rows prints it, for machines."""
        return exact(self.value)


def exact(value: Value) -> str:
    """Write a value so that equal values are equal texts."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return f"{Decimal(value):.6f}".rstrip("0").rstrip(".") if value else "0"


@dataclass(frozen=True, slots=True)
class Where:
    """The projects that a dashboard speaks of, and where their rows are opened.

    `slug` is set where it speaks of one project alone; `page` counts from 1. `is_staff_page` tells
    /admin/ from the project's own page, whose rows are that project's by themselves.
    """

    projects: tuple[Project, ...]
    slug: str | None
    is_staff_page: bool
    page: int = 1

    @property
    def shown(self) -> frozenset[int]:
        """The scopes of the projects that this page's tables list."""
        return frozenset(project.scope_id for project in self.projects[self.first : self.last])

    @property
    def first(self) -> int:
        return (self.page - 1) * PAGE_PROJECTS

    @property
    def last(self) -> int:
        return min(self.first + PAGE_PROJECTS, len(self.projects))

    @property
    def scopes(self) -> list[int]:
        return [project.scope_id for project in self.projects]

    def rows(self, model: type[Model], slug: str | None = None, **asked: object) -> str:
        """Return the address of a table's rows, narrowed to a project and as asked."""
        name = model._meta.model_name or ""
        slug = slug or self.slug
        if self.is_staff_page:
            address = reverse(f"admin:codememory_{name}_changelist")
            asked = {"project": slug, **asked}
        else:
            address = reverse("review:coverage_rows", kwargs={"slug": self.slug, "table": name})
        parts = {key: _written(value) for key, value in asked.items() if value is not None}
        return f"{address}?{urlencode(parts)}" if parts else address

    def count(
        self, number: int, model: type[Model], slug: str | None = None, **asked: object
    ) -> Figure:
        """Return a number of rows with the link to them."""
        return Figure(number, self.rows(model, slug, **asked))

    def measured(
        self,
        value: Value,
        unit: str,
        measure: str,
        model: type[Model],
        slug: str | None = None,
        **asked: object,
    ) -> Figure:
        """Return what a measure gives over rows, with the link to a page that prints it."""
        return Figure(value, self.rows(model, slug, **asked, measure=measure), unit)


def rows_name(options: Any) -> str:
    """Say what a table's rows are called, from the model's options: Django only adds an s."""
    name = str(options.verbose_name)
    return name if name.endswith("s") else re.sub(r"(?<=[^aeou])y$", "ie", name) + "s"


def _written(value: object) -> str:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else str(value)
