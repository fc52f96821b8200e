"""The OpenAPI document, and the endpoints held to it by generated requests."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from api.schema_view import document
from api.throttle import COUNTER
from codememory.models import Project
from tests.api.builders import ids_of, make_rule

Operation = APIOperation[Any, Any, Any, Any]
POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
QUICK = settings(
    max_examples=10,
    deadline=None,
    database=None,
    derandomize=True,  # a suite that fails on some days teaches nobody anything
    suppress_health_check=list(HealthCheck),
)
# Which ids an address takes, by what stands before them.
LETTERS = {
    "changes": "LF",
    "documents": "D",
    "candidates": "C",
    "memories": "M",
    "evidence": "ABS",
    "runs": "R",
}


@pytest.fixture
def operations() -> list[Operation]:
    loaded = schemathesis.openapi.from_wsgi("/api/schema/", app=get_wsgi_application())
    results = list(loaded.get_all_operations())
    found = [result.ok() for result in results if isinstance(result, Ok)]
    assert len(found) == len(results)
    return found


def test_the_document_is_public_and_the_same_for_everybody(client: Client) -> None:
    answer = client.get("/api/schema/")
    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.1")
    assert client.post("/api/schema/").status_code == 405


def test_every_operation_is_described() -> None:
    described = [about for path in document()["paths"].values() for about in path.values()]
    assert described
    for about in described:
        assert about["description"]
        assert about["security"] == [{"bearer": []}]
        assert {"401", "403", "404", "429"} <= set(about["responses"])


@pytest.mark.django_db(transaction=True)  # a WSGI request closes its connection
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("mode", [POSITIVE, NEGATIVE], ids=lambda mode: mode.value)
def test_no_generated_request_breaks_the_document(
    operations: list[Operation], alice: Project, proposer: str, mode: GenerationMode
) -> None:
    make_rule(alice)
    known = ids_of(alice)
    for operation in operations:
        kind = operation.path.split("/")[5] if operation.path.count("/") > 4 else ""
        ids = [each for each in known if each[0] in LETTERS.get(kind, "")]
        statuses = send_generated(operation, mode, ids, proposer)
        if mode is POSITIVE and "cancel" not in operation.path:
            assert statuses & {200, 202}, operation.label


def send_generated(
    operation: Operation, mode: GenerationMode, ids: list[str], token: str
) -> set[int]:
    """Send generated requests, half of them about what is there; returns the statuses seen."""
    statuses: set[int] = set()
    headers = {"Authorization": f"Bearer {token}"}

    def hold(*, is_there: bool) -> None:
        @QUICK
        @given(
            case=operation.as_strategy(generation_mode=mode), item_id=st.sampled_from(ids or [""])
        )
        def holds(case: Case[Any], item_id: str) -> None:
            COUNTER.clear()
            if is_there and case.path_parameters:
                for name in case.path_parameters:
                    case.path_parameters[name] = "alpha" if name == "project" else item_id
            if mode is POSITIVE and case.query:
                case.query.pop("cursor", None)  # good only for the question that it came from
            statuses.add(case.call_and_validate(headers=headers).status_code)

        holds()

    hold(is_there=True)
    hold(is_there=False)
    return statuses
