"""How many rows a table has: counted while they are few, beyond that as the database reckons.

Counting a million rows takes longer than a page may. The database keeps for its own plans how many
rows a table has and how they are spread over projects; VACUUM and ANALYZE renew that by themselves.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from django.core.paginator import Paginator
from django.db.models import QuerySet

COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class RowCount:
    """A number of rows; `is_about` where nobody counted them."""

    number: int
    is_about: bool = False


def row_count(rows: QuerySet[Any], counted: int | None = None) -> RowCount:
    """Say how many rows there are; `counted` is how many of COUNTED + 1 were found, if known."""
    plain = rows.order_by().select_related(None)
    found = plain[: COUNTED + 1].count() if counted is None else counted
    if found <= COUNTED:
        return RowCount(found)
    plan: Any = plain.values("pk").explain(format="json")
    told = plan if isinstance(plan, list) else json.loads(plan)
    return RowCount(max(int(told[0]["Plan"]["Plan Rows"]), found), is_about=True)


if TYPE_CHECKING:
    AnyPaginator = Paginator[Any]
else:  # Django's own class takes no parameter when it runs
    AnyPaginator = Paginator


class AboutPaginator(AnyPaginator):
    """Pages of rows that may be too many to be counted."""

    @cached_property
    def rows(self) -> RowCount:
        return row_count(cast("QuerySet[Any]", self.object_list))

    @cached_property
    def count(self) -> int:
        return self.rows.number

    @property
    def is_about(self) -> bool:
        return self.rows.is_about
