"""What goes wrong while reading the world; every class says whether trying again can help."""

from __future__ import annotations


class CollectorError(Exception):
    """Base of all errors of this package."""

    retryable = False


class GitFailedError(CollectorError):
    """Git ended with a failure that is not an expected state of the repository."""

    def __init__(self, command: str, status: int) -> None:
        super().__init__(f"git {command} ended with status {status}")
        self.command = command
        self.status = status
        # Negative: a signal (killed, out of memory), which another try may survive.
        self.retryable = status < 0


class DeadlineExceededError(CollectorError):
    """Git did not finish in its time; its process group was killed."""

    retryable = True

    def __init__(self, command: str, seconds: float) -> None:
        super().__init__(f"git {command} did not finish within {seconds:g} s")
        self.command = command
        self.seconds = seconds


class ParserUnavailableError(CollectorError):
    """The parser's own code could not be loaded in its process: no document is at fault."""

    retryable = True

    def __init__(self, function: str, error: str) -> None:
        super().__init__(f"{function} could not be loaded: {error}")
        self.function = function
        self.error = error
