"""Two projects side by side: Alice's, which the agent may read, and Bob's.

Models are imported inside of the fixtures: pytest may load this file before Django is set up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvicorn

if TYPE_CHECKING:
    from rest_framework.test import APIClient

    from codememory.models import Project


@pytest.fixture(scope="session")
def roots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    from tests.api.builders import write_repository  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("repositories")
    made = write_repository(folder / "alpha", "session"), write_repository(folder / "beta", "page")
    return made[0].root, made[1].root


@pytest.fixture
def alice(db: None, roots: tuple[Path, Path]) -> Project:
    """Alice's project, registered and not collected."""
    from codememory.projects import register_project  # noqa: PLC0415

    return register_project(roots[0])[0]


@pytest.fixture
def bob(alice: Project, roots: tuple[Path, Path]) -> Project:
    from codememory.projects import register_project  # noqa: PLC0415

    return register_project(roots[1])[0]


@pytest.fixture
def collected(alice: Project, bob: Project) -> None:
    """Both projects, read in full."""
    from tests.collected import collect  # noqa: PLC0415
    from tests.repos import RepoBuilder  # noqa: PLC0415

    for project in (alice, bob):
        collect(RepoBuilder(Path(project.root)))


@pytest.fixture
def bearer(alice: Project) -> str:
    """A token of Alice's project with the scope `read`."""
    from codememory import tokens  # noqa: PLC0415

    return tokens.create_token("agent", [alice], ["read"])[1]


@pytest.fixture
def rest(bearer: str) -> APIClient:
    """A client that carries Alice's token."""
    from rest_framework.test import APIClient  # noqa: PLC0415

    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {bearer}")
    return client


@pytest.fixture
def proposer(alice: Project) -> str:
    """A token of Alice's project that may also ask for runs."""
    from codememory import tokens  # noqa: PLC0415

    return tokens.create_token("proposer", [alice], ["read", "propose"])[1]


@pytest.fixture
def url(alice: Project, free_port: int) -> Iterator[str]:
    """The address of a real uvicorn that serves the application."""
    from api.asgi import create_application  # noqa: PLC0415

    config = uvicorn.Config(create_application(), port=free_port, log_level="warning", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{free_port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(autouse=True)
def no_requests_counted_yet() -> None:
    from api.throttle import COUNTER  # noqa: PLC0415

    COUNTER.clear()
