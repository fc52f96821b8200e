"""Times of commits: seconds since the epoch, which may be any number at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def when(seconds: int, offset_minutes: int = 0) -> datetime | None:
    """Return the moment in the author's zone; None where no calendar has it."""
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
        zone = timezone(timedelta(minutes=offset_minutes)) if offset_minutes else UTC
        return moment.astimezone(zone)
    except (OverflowError, ValueError):
        return None


def year_of(seconds: int) -> int:
    """Return the year, or 0 where there is none."""
    moment = when(seconds)
    return moment.year if moment else 0
