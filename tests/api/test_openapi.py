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

from api.throttle import COUNTER
from codememory import tokens
from codememory.models import Project
from tests.api.builders import ids_of

MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
QUICK = settings(
    max_examples=15,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def operations() -> list[APIOperation[Any, Any, Any, Any]]:
    document = schemathesis.openapi.from_wsgi("/api/schema/", app=get_wsgi_application())
    found = [result.ok() for result in document.get_all_operations() if isinstance(result, Ok)]
    assert len(found) == sum(1 for _ in document.get_all_operations())
    return found


def test_the_document_is_the_same_for_everybody(client: Client) -> None:
    answer = client.get("/api/schema/")
    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.1")
    assert client.post("/api/schema/").status_code == 405


def test_every_operation_is_described(operations: list[APIOperation[Any, Any, Any, Any]]) -> None:
    for operation in operations:
        about = operation.definition.raw
        assert about["description"]
        assert about["security"] == [{"bearer": []}]
        assert {"401", "403", "404", "429"} <= set(about["responses"])


@pytest.mark.django_db(transaction=True)  # a WSGI request closes its connection
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_no_generated_request_breaks_the_document(
    operations: list[APIOperation[Any, Any, Any, Any]], alice: Project, mode: GenerationMode
) -> None:
    _, plain = tokens.create_token("agent", [alice], ["read", "propose"])
    headers = {"Authorization": f"Bearer {plain}"}
    known = ids_of(alice)
    for operation in operations:
        strategy = operation.as_strategy(generation_mode=mode)

        @QUICK
        @given(case=strategy, known_id=st.sampled_from(known), real=st.booleans())
        def holds(case: Case[Any], known_id: str, real: bool) -> None:
            COUNTER.clear()
            if real:
                for name in case.path_parameters or {}:
                    case.path_parameters[name] = "alpha" if name == "project" else known_id
            if mode is GenerationMode.POSITIVE and case.query:
                case.query.pop("cursor", None)  # good only for the question that it came from
            case.call_and_validate(headers=headers)

        holds()
