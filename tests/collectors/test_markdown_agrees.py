"""Our headings are those of an independent parser, on documents nobody chose."""

from __future__ import annotations

import pytest

from benchmarks.markdown_cases import document, our_headings, their_headings


@pytest.mark.parametrize("start", range(0, 2_000, 250))
def test_headings_of_random_documents_agree_with_markdown_it(start: int) -> None:
    texts = [document(seed) for seed in range(start, start + 250)]
    assert [t for t in texts if our_headings(t) != their_headings(t)] == []
