"""A lookup by many numbers, which travel as one text: `pk__among="{1,2,3}"`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import BigAutoField, Lookup


def listed(numbers: Iterable[int]) -> str:
    """Write numbers as the database reads an array of them."""
    return f"{{{','.join(map(str, numbers))}}}"


@BigAutoField.register_lookup
class Among(Lookup):
    """Equal to one of the array's: unlike a list of parameters it costs nothing to be compiled."""

    lookup_name = "among"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        left, left_parameters = self.process_lhs(compiler, connection)
        return f"{left} = ANY(%s::bigint[])", [*left_parameters, self.rhs]
