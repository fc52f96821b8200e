"""The one mapping from errors to what an agent is told, over REST and over MCP alike.

What is absent and what belongs to somebody else give the same answer, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import InterfaceError, OperationalError

from codememory.errors import BadCursorError, CodeMemoryError, UnknownProjectError


class AbsentError(CodeMemoryError):
    """A project or evidence is not there, or not the caller's: nobody is told which."""


class ProjectRequiredError(CodeMemoryError):
    """The call names no project and more than one could be meant."""

    def __init__(self, slugs: list[str]) -> None:
        super().__init__(f"Name a project: {', '.join(slugs)}.")
        self.slugs = slugs


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


NOT_FOUND = Problem(404, "NOT_FOUND", "No such project or evidence.")
FAILED = Problem(500, "FAILED", "The request failed; the server's log says why.")
UNAVAILABLE = Problem(503, "UNAVAILABLE", "The database does not answer.", retryable=True)


def problem_of(error: BaseException) -> Problem | None:
    """Return what the caller is told of `error`; None where nothing is known of it."""
    match error:
        case AbsentError() | UnknownProjectError():
            return NOT_FOUND
        case BadCursorError():
            return Problem(400, "BAD_CURSOR", "The cursor is not one of this question's.")
        case ProjectRequiredError():
            return Problem(400, "PROJECT_REQUIRED", str(error))
        case AnswerTooLargeError():
            return Problem(400, "ANSWER_TOO_LARGE", "Ask for less: a smaller limit or budget.")
        case OperationalError() | InterfaceError():
            return UNAVAILABLE
        case CodeMemoryError(retryable=True):
            return Problem(503, "UNAVAILABLE", str(error), retryable=True)
        case CodeMemoryError():
            return Problem(500, "FAILED", str(error))
        case _:
            return None
