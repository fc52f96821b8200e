"""Two projects side by side: Alice's, which agents in these tests may read, and Bob's.

Models are imported inside of the fixtures: pytest may load this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rest_framework.test import APIClient

    from tests.api.builders import Owned


@pytest.fixture
def alice(db: None) -> Owned:
    from tests.api.builders import make_owned  # noqa: PLC0415

    return make_owned("alpha", "The cache must be invalidated on every write.")


@pytest.fixture
def bob(db: None) -> Owned:
    from tests.api.builders import make_owned  # noqa: PLC0415

    return make_owned("beta", "The ledger must never be rewritten.")


@pytest.fixture
def bearer(alice: Owned) -> str:
    """A token of Alice's project with the scope `read`."""
    from codememory import tokens  # noqa: PLC0415

    return tokens.create_token("agent", [alice.project], ["read"])[1]


@pytest.fixture
def rest(bearer: str) -> APIClient:
    """A client that carries Alice's token."""
    from rest_framework.test import APIClient  # noqa: PLC0415

    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {bearer}")
    return client
