"""Errors of the application: facts are attributes, `retryable` says if another try can help."""

from __future__ import annotations

import re


class CodeMemoryError(Exception):
    """Base of all errors of this package; its text is fit to be shown to the person who asked."""

    retryable = False
    hint: str | None = None  # what to do, where the text does not say it

    @property
    def code(self) -> str:
        """A fixed word for programs: UNKNOWN_PROJECT of UnknownProjectError."""
        return re.sub(
            r"(?<=[a-z])(?=[A-Z])", "_", type(self).__name__.removesuffix("Error")
        ).upper()


class SettingError(CodeMemoryError):
    """A setting holds a value that cannot be right; its value is not repeated, it may be secret."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} {reason}")
        self.name = name
        self.reason = reason


class DatabaseError(CodeMemoryError):
    """The database server of our own could not be prepared, started or reached."""

    def __init__(self, reason: str, *, retryable: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retryable = retryable


class LeaseLostError(CodeMemoryError):
    """Another claim holds the run now (or nobody does): nothing more may be written for it."""

    def __init__(self, run_id: int, fence: int) -> None:
        super().__init__(f"run R{run_id} is no longer held under fence {fence}")
        self.run_id = run_id
        self.fence = fence


class RunCancelledError(CodeMemoryError):
    """Somebody asked for the run to stop; its next batch is not written."""

    def __init__(self, run_id: int) -> None:
        super().__init__(f"run R{run_id} was cancelled")
        self.run_id = run_id


class RefusedProjectError(CodeMemoryError):
    """A path cannot be registered or read; `reason` is a state's name, `hint` says what to do."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(f"{reason}: {hint}")
        self.reason = reason
        self.hint: str = hint

    @property
    def code(self) -> str:
        return self.reason


class UnknownProjectError(CodeMemoryError):
    """No such project, or none that the asker may see: the two are never told apart."""

    hint = "`codememory projects` lists what there is"

    def __init__(self, name: str) -> None:
        super().__init__(f"no project {name!r} here; {self.hint}")
        self.name = name


class BadCursorError(CodeMemoryError):
    """A continuation cursor that this product did not hand out for this question."""

    hint = "ask again without it"

    def __init__(self) -> None:
        super().__init__(f"the cursor does not belong to this question; {self.hint}")


class SourceUnreadableError(CodeMemoryError):
    """A registered source cannot be read now; `reason` names the state it is in."""

    def __init__(self, reason: str, hint: str, *, retryable: bool = False) -> None:
        super().__init__(f"{reason}: {hint}")
        self.reason = reason
        self.hint: str = hint
        self.retryable = retryable

    @property
    def code(self) -> str:
        return self.reason
