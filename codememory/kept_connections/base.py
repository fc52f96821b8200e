"""Django's PostgreSQL backend, with sessions that may stay; the name of the module is Django's."""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel

from codememory.kept_connections import give, take

_PLACE = ("NAME", "USER", "PASSWORD", "HOST", "PORT")


class DatabaseWrapper(base.DatabaseWrapper):
    """Asks for a kept session before it opens one, and offers its own before it closes it."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        kept = take(self._key()) if not self.settings_dict["OPTIONS"] else None
        if kept is None:
            return super().get_new_connection(conn_params)
        self.isolation_level = IsolationLevel.READ_COMMITTED  # as it is without an option
        return kept

    def _close(self) -> None:
        is_usable = self.connection is not None and not self.errors_occurred
        if not (is_usable and give(self._key(), self.connection)):
            super()._close()  # type: ignore[misc]  # the stubs do not know it

    def _key(self) -> tuple[str, ...]:
        return tuple(str(self.settings_dict[name]) for name in _PLACE)
