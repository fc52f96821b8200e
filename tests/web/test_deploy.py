"""The settings as they are shipped leave Django's own check for production nothing to say."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings


def check_deploy(**variables: str) -> subprocess.CompletedProcess[str]:
    """`manage.py check --deploy`, as somebody who installs it would run it."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    keys = {"SECRET_KEY": "k" * 25 + "-Aa1" * 10, "CODEMEMORY_REDACTION_KEY": "r" * 40}
    return subprocess.run(
        [sys.executable, "-m", "django", "check", "--deploy", "--fail-level", "WARNING"],
        env={
            **inherited, **keys, **variables,
            "CODEMEMORY_HOME": "/nonexistent/codememory",
            "DJANGO_SETTINGS_MODULE": "codememory.settings",
            "PYTHONPATH": str(settings.ROOT),
        },
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"CODEMEMORY_HTTPS": "1", "CODEMEMORY_ALLOWED_HOSTS": "memory.example.org"},
        {"CODEMEMORY_HTTPS": "1", "CODEMEMORY_TRUST_PROXY": "1"},
    ],
)
def test_check_deploy_is_silent(variables: dict[str, str]) -> None:
    done = check_deploy(**variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues" in done.stdout + done.stderr
    assert "WARNING" not in done.stderr


def test_a_proxy_without_https_is_found() -> None:
    done = check_deploy(CODEMEMORY_TRUST_PROXY="1")
    assert "codememory.W006" in done.stderr


def test_debug_pages_are_found() -> None:
    assert "security.W018" in check_deploy(CODEMEMORY_DEBUG="1").stderr
