"""Who may import whom, who may start a process, and how large things may grow: over the AST."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("codememory", "collectors", "review", "api", "migrations")
FORBIDDEN = {
    "collectors": {"django", "codememory", "review", "api"},
    "codememory": {"review", "api"},
    "review": {"api", "collectors", "subprocess"},
    "api": {"review", "collectors", "subprocess"},
    "migrations": {"codememory", "review", "api", "collectors"},
}
PROCESS_STARTERS = {
    "collectors/git.py",
    "collectors/process.py",
    "collectors/parse_pool.py",
    "codememory/database/server.py",
    "codememory/database/place.py",
    "codememory/supervisor.py",
    "codememory/guard.py",  # ends a child of the supervisor with its parent, then becomes it
    "codememory/demo_repository.py",
    "codememory/management/commands/test.py",
    "manage.py",
}
STARTING = re.compile(r"^(subprocess|multiprocessing|pty)$")
OS_STARTERS = {"system", "popen", "fork", "forkpty", "posix_spawn", "execv", "execve", "execvp"}
MAX_FILE, MAX_FUNCTION = 500, 60


def sources(package: str) -> Iterator[Path]:
    return (p for p in sorted((ROOT / package).rglob("*.py")) if "__pycache__" not in p.parts)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


ALL = [path for package in PACKAGES for path in sources(package)] + [ROOT / "manage.py"]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    files = list(sources(package))
    wrong = [
        f"{name_of(path)} imports {name}"
        for path in files
        for name in imports(parsed(path))
        if name.split(".")[0] in FORBIDDEN[package]
    ]
    assert files
    assert wrong == []


def test_nothing_else_starts_a_process() -> None:
    starters = set()
    for path in ALL:
        for node in ast.walk(parsed(path)):
            is_import = isinstance(node, ast.Import | ast.ImportFrom) and any(
                STARTING.match(name.split(".")[0])
                for name in imports(ast.Module(body=[node], type_ignores=[]))
            )
            is_call = (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "os"
                and node.attr in OS_STARTERS
            )
            if is_import or is_call:
                starters.add(name_of(path))
    assert starters
    assert starters <= PROCESS_STARTERS


def test_urls_reach_review_and_api_by_strings_only() -> None:
    tree = parsed(ROOT / "codememory" / "urls.py")
    included = [
        call.args[0].value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") == "include"
        and isinstance(call.args[0], ast.Constant)
    ]
    assert "review.urls" in included
    assert "api.urls" in included


def test_a_leading_underscore_stays_in_its_module() -> None:
    wrong = [
        f"{name_of(path)} imports {node.module}.{alias.name}"
        for path in ALL
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
        if alias.name.startswith("_") and (node.module or "").split(".")[0] in PACKAGES
    ]
    assert wrong == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        name_of(path)
        for path in ALL
        if path.stem != "__init__"
        and path.read_text().strip()
        and not ast.get_docstring(parsed(path))
        and not re.match(r"\d{4}_", path.name)
    ]
    assert silent == []


def test_files_and_functions_stay_readable() -> None:
    large = []
    for path in ALL:
        if path.parent.name == "migrations":
            continue
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MAX_FILE:
            large.append(f"{name_of(path)}: {lines} lines")
        large += [
            f"{name_of(path)}:{node.name}: {(node.end_lineno or 0) - node.lineno} lines"
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno > MAX_FUNCTION
        ]
    assert large == []


def test_every_save_names_its_fields() -> None:
    bare = [
        f"{name_of(path)}:{node.lineno}"
        for path in ALL
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "save"
        and not ast.unparse(node.func.value).endswith("form")  # Django's forms save by themselves
        and not {k.arg for k in node.keywords} & {"update_fields", "force_insert"}
    ]
    assert bare == []


def test_every_app_model_says_whether_it_may_be_rebuilt() -> None:
    silent = [
        f"{name_of(path)}:{node.name}"
        for path in sources("codememory/models")
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef)
        and any(
            getattr(base, "attr", getattr(base, "id", "")) in {"Model", "OwnedModel"}
            for base in node.bases
        )
        and node.name != "OwnedModel"
        and not re.match(r"(Canonical|Derived)\b", ast.get_docstring(node) or "")
    ]
    assert silent == []
