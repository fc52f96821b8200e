"""Documents that blow parsers up: each ends in its time or is a gap, and the next one is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from collectors.document_reader import DOCUMENT_SECONDS, DocumentReader
from collectors.parse_pool import ParsePool
from collectors.policy import Policy
from collectors.values import GapReason

SLOW = {
    "brackets": "[" * 50_000,
    "quotations": ">" * 50_000 + " x",
    "nested lists": "".join(" " * depth + "- x\n" for depth in range(2_000)),
    "emphasis": "*a " * 100_000,
    "a megabyte of ticks": "`" * (1 << 20),
    "runs of ticks": "".join("`" * count + " " for count in range(1, 1_400)),
    "a wide table": "|a" * 100_000 + "\n" + "|-" * 100_000 + "\n" + "|b" * 100_000 + "\n",
    "definitions": "".join(f"[{n}]: /u\n" for n in range(39_000)) + "[1]" * 60_000,
    "open comments": "<!-- " * 100_000,
    "open tags": "<a " * 100_000,
    "links": "<http://" * 50_000,
    "one word": "a" * 50_000 + "!",
    "spaces in a heading": "# " + " " * 200_000 + "x\n",
    "underscores": "_" * 100_000 + "a",
    "an entity": "&#" + "1" * 200_000 + ";",
    "images": "![" * 60_000 + "](x)",
    "an open fence": "```\n" + "x\n" * 20_000,
    "sentences": "- We must not. " * 100_000,
    "lines that look like keys": "password = '\n" * 39_000,
    "numbers": "1" * 500_000 + "\n" + "9." * 100_000,
    "pipes": ("|" * 1_000 + "\n") * 1_000,
    "markers": "- " * 100_000,
}


@pytest.fixture(scope="module")
def reader() -> Iterator[DocumentReader]:
    with ParsePool() as pool:
        yield DocumentReader(pool, Policy(redaction_key=b"only-for-tests"))


@pytest.mark.parametrize("name", SLOW)
def test_a_slow_document_ends_in_its_time_or_is_a_gap(name: str, reader: DocumentReader) -> None:
    """Two seconds of processor time; the next document is read by a worker that is well."""
    content = SLOW[name].encode()
    document = reader.with_statements(b"slow.md", "0" * 40, content).document
    reasons = {gap.reason for gap in document.gaps}
    told = {GapReason.DEADLINE, GapReason.PARSER_LIMIT, GapReason.BUDGET, GapReason.PARSE_ERROR}
    assert reasons <= told
    assert document.segments or reasons
    after = reader.with_sections(b"a.md", "1" * 40, b"# A\n\nWords.\n")
    assert len(after.document.segments) == 2
    assert DOCUMENT_SECONDS == 2.0
