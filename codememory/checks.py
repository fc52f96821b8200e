"""System checks: what must be right before anything runs. Each has an id, a hint and a test."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Caution

from collectors.git import OLDEST_GIT

TAG = "codememory"
LONGEST_SLICE_SECONDS = 60


@register(TAG)
def check_times_are_utc(**_: Any) -> list[CheckMessage]:
    if settings.USE_TZ and settings.TIME_ZONE == "UTC":
        return []
    return [Error("times are not kept in UTC", hint='TIME_ZONE = "UTC"', id="codememory.E001")]


@register(TAG)
def check_queue_is_safe(**_: Any) -> list[CheckMessage]:
    """A row that is fetched and waits must not be given out again before it could have run."""
    queue = settings.Q_CLUSTER
    longest_wait = queue["timeout"] * (2 + queue["queue_limit"] / queue["workers"])
    rules = {
        "retry must be above timeout * (2 + queue_limit / workers)": queue["retry"] > longest_wait,
        "timeout must be above the longest slice": queue["timeout"] > LONGEST_SLICE_SECONDS,
        "max_attempts must be 1: runs count their own": queue["max_attempts"] == 1,
        "ack_failures must be on, or failures return for ever": queue["ack_failures"] is True,
        "orm must be default: tasks commit with our rows": queue["orm"] == "default",
        "there must be one queue": "ALT_CLUSTERS" not in queue,
    }
    return [
        Error(f"the queue is not safe: {rule}", hint="see Q_CLUSTER", id="codememory.E002")
        for rule, holds in rules.items()
        if not holds
    ]


@register(TAG)
def check_git(**_: Any) -> list[CheckMessage]:
    version = git_version()
    if version is None:
        return [Error("git is missing", hint="install git", id="codememory.E003")]
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_GIT:
        oldest = ".".join(str(part) for part in OLDEST_GIT)
        reason = f"git {version} is too old"
        return [Error(reason, hint=f"install git {oldest} or newer", id="codememory.E003")]
    return []


@register(TAG)
def check_secrets_last(**_: Any) -> list[CheckMessage]:
    """With a key of this process alone, no other process could read sessions or the queue."""
    origins = {
        "SECRET_KEY": (settings.SECRET_KEY_ORIGIN, "codememory.E004"),
        "CODEMEMORY_REDACTION_KEY": (settings.REDACTION_KEY_ORIGIN, "codememory.E005"),
    }
    return [
        Error(f"{name} is not kept anywhere", hint=f"set {name}, or start by manage.py", id=number)
        for name, (origin, number) in origins.items()
        if origin == "process"
    ]


@register(Tags.security, deploy=True)
def check_proxy(**_: Any) -> list[CheckMessage]:
    """What a proxy says is believed for the sake of HTTPS; without that, anybody may say it."""
    if settings.HTTPS or not settings.CODEMEMORY_TRUST_PROXY:
        return []
    hint = "set CODEMEMORY_HTTPS, or leave CODEMEMORY_TRUST_PROXY off"
    return [Caution("a proxy is trusted and HTTPS is off", hint=hint, id="codememory.W006")]


def git_version() -> str | None:
    from collectors import git  # noqa: PLC0415 -- without a git program it cannot be imported

    try:
        return ".".join(str(part) for part in git.git_version()) or None
    except OSError:
        return None
