"""What there is to know is written down, and what is written down is there."""

from __future__ import annotations

import ast
import hashlib
import importlib
import re
import runpy
import tomllib
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path

import anyio
import pytest
from django.core.management import get_commands, load_command_class
from django.urls import get_resolver

from api.access import ProcessAccess
from api.server import stdio_server
from codememory import env, models
from codememory.demo_repository import build_repository
from codememory.verdicts.values import Flag, Method, VerdictKind
from collectors import symbol_values, values
from tests.repos import RepoBuilder

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
UNTRACKED = {
    *(".venv", ".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")
}
OURS = ("codememory", "api", "review")
READERS = {"text", "boolean", "integer", "words"}
MOST_LINES = {"architecture.md": 250, "operations.md": 250, "domain.md": 250}
MOST_DECISION_LINES = 60
VOCABULARIES: list[type[Enum]] = [
    values.GapReason,
    values.PathClass,
    values.ContentClass,
    symbol_values.SymbolKind,
    symbol_values.Coverage,
    symbol_values.SymbolChangeKind,
    symbol_values.TableDifference,
    Method,
    VerdictKind,
    Flag,
    models.ActorKind,
    models.Role,
    models.TokenScope,
    models.CandidateState,
    models.MemoryState,
    models.KnowledgeType,
    models.Modality,
    models.Layer,
    models.RunState,
    models.SourceKind,
    models.EntryKind,
    models.Availability,
    models.ObservationKind,
    models.DecisionAction,
    models.ReversalLevel,
    models.OriginKind,
    models.OriginState,
    models.FactsPhase,
]
# Written apart, so that this file does not name what it looks for.
REGISTRY = re.compile(
    r"py" + r"pi\.org|python" + r"hosted|npm" + r"js\.(?:com|org)|extra-" + r"index-url|--index"
    r"-url|https?://[^\s/]*(?:registry|artifactory|nexus|mirror)[^\s/]*",
    re.IGNORECASE,
)
MACHINE = re.compile(r"(?<![\w.~-])/(?:" + "root|work|workspace|mnt" + r")/[\w.]")
SOMEBODY = re.compile(r"(?<![\w.~-])/(?:" + "home|Users" + r")/(?!(?:a|alice|bob|you)\b)[\w.]")


def files() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        parts = set(path.relative_to(ROOT).parts)
        if path.is_file() and not parts & UNTRACKED and path.name != Path(__file__).name:
            yield path


MARKDOWN = [path for path in files() if path.suffix == ".md"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(*names: str) -> str:
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)


def unsaid(wanted: set[str], text: str) -> list[str]:
    """The words that do not stand in the text as words of their own."""
    return sorted(w for w in wanted if not re.search(rf"(?<![\w.]){re.escape(w)}(?!\w)", text))


# --- what there is -------------------------------------------------------------------------------


@pytest.fixture
def settings_read(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Every variable that the settings ask for, and every one that other code names."""
    asked: set[str] = set()
    real = env.text

    def text(name: str, default: str = "", environ: Mapping[str, str] | None = None) -> str:
        asked.add(name)
        return real(name, default, environ)

    monkeypatch.setattr(env, "text", text)
    runpy.run_path(str(ROOT / "codememory" / "settings.py"))
    return asked | set(named_variables())


def named_variables() -> Iterator[str]:
    for package in OURS:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                    continue
                reader, first = node.func, node.args[0] if node.args else None
                is_env = isinstance(reader.value, ast.Name) and reader.value.id == "env"
                if is_env and reader.attr in READERS and isinstance(first, ast.Constant):
                    yield str(first.value)


def test_every_setting_is_documented(settings_read: set[str]) -> None:
    assert {"CODEMEMORY_HOME", "DATABASE_URL", "SECRET_KEY"} <= settings_read
    assert unsaid(settings_read, prose("docs/operations.md")) == []


def test_every_system_check_is_documented() -> None:
    found = {
        number
        for package in OURS
        for path in (ROOT / package).rglob("*.py")
        for number in re.findall(r"codememory\.[EW]\d{3}", path.read_text(encoding="utf-8"))
    }
    assert found
    assert unsaid(found, prose("docs/operations.md")) == []


def test_every_tool_and_its_arguments_are_documented() -> None:
    tools = anyio.run(stdio_server(ProcessAccess(None)).list_tools)
    names = {tool.name for tool in tools}
    arguments = {name for tool in tools for name in tool.input_schema["properties"]}
    assert names
    assert unsaid(names | arguments, prose("docs/agents.md")) == []


def test_every_address_is_documented() -> None:
    routes = {
        re.sub(r"<\w+:(\w+)>", r"{\1}", f"/api/v1/{pattern.pattern}")
        for pattern in importlib.import_module("api.urls").urlpatterns
        if pattern.name != "nothing"  # the answer to every other address
    }
    told = prose("docs/agents.md", "docs/operations.md")
    top = {f"/{pattern.pattern}" for pattern in get_resolver().url_patterns if pattern.pattern}
    missing = [route for route in {*routes, *top, "/mcp"} if route not in told]
    assert routes
    assert missing == []


def options_of(command: str, app: str) -> set[str]:
    parser = load_command_class(app, command).create_parser("manage.py", command)
    parsers: list[ArgumentParser] = [parser]
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            parsers += action.choices.values()
    shared = {"-h", "--help", "--version", "--skip-checks"}
    shared |= {"-v", "--verbosity", "--settings", "--pythonpath", "--traceback"}
    shared |= {"--no-color", "--force-color"}
    actions = [action for each in parsers for action in each._actions]
    return {word for action in actions for word in action.option_strings} - shared


def test_every_command_and_its_options_are_documented() -> None:
    commands = {name: app for name, app in get_commands().items() if app in OURS}
    told = prose("docs/operations.md")
    options = {o for name, app in commands.items() for o in options_of(name, str(app))}
    assert {"up", "demo", "mcp"} <= set(commands)
    assert unsaid(set(commands), told) + [o for o in sorted(options) if o not in told] == []


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda v: v.__name__)
def test_every_word_of_a_vocabulary_is_in_the_domain(vocabulary: type[Enum]) -> None:
    words = {str(member.value) for member in vocabulary}
    assert unsaid(words, prose("docs/domain.md")) == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads(prose("pyproject.toml"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    names = {re.split(r"[\[<>=]", dependency)[0] for dependency in wanted}
    assert unsaid(names, prose("docs/decisions/0001-dependencies.md")) == []


def test_every_benchmark_is_documented() -> None:
    scripts = {p.name for p in (ROOT / "benchmarks").glob("*.py") if "__main__" in p.read_text()}
    assert scripts
    assert unsaid(scripts, prose("docs/benchmarks.md").replace("benchmarks/", "")) == []


def test_every_verification_gap_is_documented() -> None:
    code = prose("codememory/verification.py", "codememory/context.py")
    reasons = set(re.findall(r"_gap\(\s*\"([A-Z_]+)\"", code))
    assert "NO_EXECUTION_RECORD" in reasons
    assert unsaid(reasons, prose("docs/domain.md")) == []


# --- what is written -----------------------------------------------------------------------------


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.+?) *$", path.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading).strip().lower() for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def dead_links(path: Path) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = (path.parent / name).resolve() if name else path
        is_there = place.exists() and place.is_relative_to(ROOT)
        if not is_there or (anchor and anchor not in anchors(place)):
            yield target


@pytest.mark.parametrize("path", MARKDOWN, ids=name_of)
def test_no_link_is_dead(path: Path) -> None:
    assert list(dead_links(path)) == []


def test_the_readme_begins_with_the_two_commands() -> None:
    block = re.search(r"^```\w*\n(.*?)^```", prose("README.md"), re.DOTALL | re.MULTILINE)
    assert block is not None
    assert [line.partition("  #")[0].strip() for line in block[1].splitlines()] == [
        "python3 manage.py demo",
        "python3 manage.py up --project PATH",
        "python3 manage.py test",
    ]
    assert prose("README.md").index("```") < 400


def test_the_evidence_in_the_readme_is_what_git_gives(tmp_path: Path) -> None:
    readme = prose("README.md")
    found = re.search(r"bytes +(\d+) to (\d+) of sha1 (\w{40})\nsha256 +(\w{64})", readme)
    assert found is not None
    build_repository(tmp_path / "shop")
    repo = RepoBuilder(tmp_path / "shop")
    exact = repo.git_bytes("cat-file", "blob", found[3])[int(found[1]) : int(found[2])]
    assert hashlib.sha256(exact).hexdigest() == found[4]
    commits = set(repo.git("rev-list", "HEAD").split())
    assert (
        set(re.findall(r"(?<=commit         )\w{40}|(?<=compared with )\w{40}", readme)) <= commits
    )


@pytest.mark.parametrize("name", MOST_LINES)
def test_a_document_stays_short(name: str) -> None:
    assert prose(f"docs/{name}").count("\n") < MOST_LINES[name]


def test_a_decision_stays_short_and_numbered() -> None:
    records = sorted((DOCS / "decisions").glob("*.md"))
    numbers = [int(path.name[:4]) for path in records]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [p.name for p in records if p.read_text().count("\n") >= MOST_DECISION_LINES] == []


def test_no_file_names_a_registry_or_somebodys_machine() -> None:
    found = []
    for path in files():
        text = path.read_bytes().decode("utf-8", "replace")
        for pattern in (REGISTRY, MACHINE, SOMEBODY):
            found += [f"{name_of(path)}: {match[0]}" for match in pattern.finditer(text)]
    assert found == []
