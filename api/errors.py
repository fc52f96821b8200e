"""The one mapping from errors to what an agent is told, over REST and over MCP alike.

What is absent and what belongs to somebody else give the same answer, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import InterfaceError, OperationalError

from codememory.errors import BadCursorError, CodeMemoryError, UnknownProjectError
from codememory.run_requests import NotYourRunError, RunEndedError, SourceNotAllowedError


class AbsentError(CodeMemoryError):
    """A project, item, run or evidence is not there, or not the caller's: nobody is told which."""


class ProjectRequiredError(CodeMemoryError):
    """The call names no project and more than one could be meant."""

    def __init__(self, slugs: list[str]) -> None:
        super().__init__(f"Name a project: {', '.join(slugs)}.")
        self.slugs = slugs


class ScopeMissingError(CodeMemoryError):
    """The caller's token was made without the scope that the call needs."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"The token lacks the scope `{scope}`.")
        self.scope = scope


class AnswerTooLargeError(CodeMemoryError):
    """Even the smallest answer is over the limit."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong: an HTTP status, a fixed code and one sentence that reveals nothing."""

    status: int
    code: str
    detail: str
    retryable: bool = False

    def __str__(self) -> str:
        hint = " Try again later." if self.retryable else ""
        return f"{self.code}: {self.detail}{hint}"


NOT_FOUND = Problem(404, "NOT_FOUND", "No such project, item, run or evidence.")
BAD_REQUEST = Problem(400, "BAD_REQUEST", "The request or its Host is not acceptable here.")
BAD_CURSOR = Problem(400, "BAD_CURSOR", "The cursor is not one of this question's.")
ANSWER_TOO_LARGE = Problem(400, "ANSWER_TOO_LARGE", "Ask for less: a smaller limit or budget.")
NOT_YOUR_RUN = Problem(403, "NOT_YOUR_RUN", "Only the agent that asked for a run cancels it.")
THROTTLED = Problem(429, "THROTTLED", "The token has asked too often.", retryable=True)
FAILED = Problem(500, "FAILED", "The request failed; the server's log says why.")
UNAVAILABLE = Problem(503, "UNAVAILABLE", "The database does not answer.", retryable=True)


KNOWN: tuple[tuple[type[BaseException], Callable[[Any], Problem]], ...] = (
    (AbsentError, lambda _: NOT_FOUND),
    (UnknownProjectError, lambda _: NOT_FOUND),
    (BadCursorError, lambda _: BAD_CURSOR),
    (ProjectRequiredError, lambda e: Problem(400, "PROJECT_REQUIRED", str(e))),
    (AnswerTooLargeError, lambda _: ANSWER_TOO_LARGE),
    (ScopeMissingError, lambda e: Problem(403, "PERMISSION_DENIED", str(e))),
    (SourceNotAllowedError, lambda e: Problem(403, "SOURCE_NOT_ALLOWED", str(e))),
    (NotYourRunError, lambda _: NOT_YOUR_RUN),
    (RunEndedError, lambda e: Problem(409, "RUN_ENDED", str(e))),
    (OperationalError, lambda _: UNAVAILABLE),
    (InterfaceError, lambda _: UNAVAILABLE),
)


def problem_of(error: BaseException) -> Problem | None:
    """Return what the caller is told of `error`; None where nothing is known of it."""
    for kind, told in KNOWN:
        if isinstance(error, kind):
            return told(error)
    if not isinstance(error, CodeMemoryError):
        return None
    if error.retryable:
        return Problem(503, "UNAVAILABLE", str(error), retryable=True)
    return Problem(500, "FAILED", str(error))
