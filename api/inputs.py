"""The bounds of what agents may ask, the same for REST and for MCP."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

KINDS = ("change", "section", "candidate", "memory")
DEFAULT_LIMIT = 10
MAX_LIMIT = 50
DEFAULT_BUDGET = 4_000
MIN_BUDGET = 200
MAX_BUDGET = 12_000
MAX_PATH = 4_096
MAX_NAME = 400
MAX_CURSOR = 2_000
MAX_NAMES = 50  # paths or symbols of one question
MAX_INTENT = 40
DEFAULT_ROWS = 20
MAX_ROWS = 100
MAX_ID = 40


def storable(text: str) -> str:
    """Refuse what PostgreSQL's text cannot hold: NUL and lone surrogates."""
    if "\0" in text:
        raise ValueError("must not contain NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return text


def readable(text: object) -> object:
    """Replace lone surrogates, which are no text to anybody."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else text


def numeric(value: object) -> object:
    """Refuse text and truth values in the place of a number; 10.0 is the number 10 in JSON."""
    if isinstance(value, str | bytes | bool):
        raise ValueError("must be a number, not text")  # noqa: TRY004 -- what pydantic reports
    return value


Clean = AfterValidator(storable)
Number = BeforeValidator(numeric)
Kind = Literal["change", "section", "candidate", "memory"]
Path = Annotated[str, Field(min_length=1, max_length=MAX_PATH), Clean]
Symbol = Annotated[str, Field(min_length=1, max_length=MAX_NAME), Clean]

ProjectName = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=MAX_PATH,
        description="A project's name from list_projects, or an absolute path inside it. "
        "May be left out when only one project is readable or attached.",
    ),
]
# No bound and no refusal: a question of any text has an answer, and a gap says what was not read.
Question = Annotated[str, BeforeValidator(readable), Field(min_length=1)]
Cursor = Annotated[
    str | None,
    Field(max_length=MAX_CURSOR, description="`next` of the answer before, to continue it."),
]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT), Number]
Budget = Annotated[
    int,
    Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Most tokens (estimated) to return."),
    Number,
]
EvidenceId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_ID,
        description="From evidence_ids: S12 (a segment), A5.1 or B5.1 (after and before).",
    ),
    Clean,
]
Subject = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_PATH,
        description="A path (src/a.py), a symbol (refund, Order.refund) or both (src/a.py:refund).",
    ),
    Clean,
]
RunId = Annotated[
    str,
    Field(min_length=1, max_length=MAX_ID, description="From collect_history: R12."),
    Clean,
]
Rows = Annotated[int, Field(ge=1, le=MAX_ROWS), Number]
