"""The queue's page."""

from __future__ import annotations

from django.contrib.auth.models import User

from codememory.models import Candidate
from tests.builders import signed_in


def test_it_lists_what_is_open_with_its_source_and_verdict(
    alice: User, candidate: Candidate
) -> None:
    page = signed_in(alice).get("/projects/payments-api/review/").content.decode()
    assert "A retried refund keeps its first key." in page
    assert "0017-refund-idempotency.md" in page
    assert "SEGMENT_MATCH" in page
