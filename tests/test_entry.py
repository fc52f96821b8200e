"""manage.py: finding a Python, keeping .venv fresh, becoming the command; and what entry lends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import manage
from codememory import entry

ROOT = Path(__file__).resolve().parent.parent


def run(*arguments: str, cwd: Path = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    env = {**os.environ, **environ}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A complete environment of its own, whose Python is the one that runs the tests."""
    folder = tmp_path / ".venv"
    executable(manage.interpreter(folder), f'exec "{sys.executable}" "$@"')
    (folder / "codememory-building").touch()
    monkeypatch.setattr(manage, "ENVIRONMENT", folder)
    monkeypatch.setattr(manage, "probe", lambda _: "3.11")
    manage.finish(manage.LOCK)
    return folder


def test_without_arguments_it_shows_our_commands_and_makes_nothing(tmp_path: Path) -> None:
    shown = run(CODEMEMORY_HOME=str(tmp_path / "home"))
    assert shown.returncode == 0
    assert shown.stdout == manage.OVERVIEW
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("argument", ["--help", "-h", "help"])
def test_help_shows_the_same(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert manage.main([argument]) == 0
    assert capsys.readouterr().out == manage.OVERVIEW


def test_every_command_of_ours_is_shown() -> None:
    files = (ROOT / "codememory" / "management" / "commands").glob("[!_]*.py")
    named = {line.split()[0] for line in manage.OVERVIEW.splitlines() if line.startswith("  ")}
    assert {file.stem for file in files} - {"qcluster"} <= named


def test_help_of_a_command_needs_no_home(tmp_path: Path) -> None:
    shown = run("doctor", "--help", CODEMEMORY_HOME=str(tmp_path / "home"))
    assert "--json" in shown.stdout
    assert not (tmp_path / "home").exists()


def test_it_works_from_any_directory(tmp_path: Path) -> None:
    assert run("help", "--commands", cwd=tmp_path).stdout.count("doctor") == 1


def test_a_fresh_environment_is_left_alone(environment: Path) -> None:
    assert manage.is_fresh(manage.LOCK)


def test_an_environment_of_another_lock_is_stale(environment: Path) -> None:
    assert not manage.is_fresh(manage.TEST_LOCK)


def test_an_environment_whose_python_changed_is_stale(environment: Path) -> None:
    assert not manage.is_fresh(manage.LOCK, running="3.12")


def test_an_environment_that_was_moved_is_stale(environment: Path) -> None:
    stamp = environment / "codememory.json"
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"root": "/elsewhere"}))
    assert not manage.is_fresh(manage.LOCK)


def test_an_environment_without_its_python_is_stale(environment: Path) -> None:
    manage.interpreter(environment).unlink()
    assert not manage.is_fresh(manage.LOCK)


def test_the_command_is_the_same_program(environment: Path, tmp_path: Path) -> None:
    command = manage.interpreter(environment).parent / "codememory"
    shown = subprocess.run([command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.stdout == manage.OVERVIEW


def test_the_command_works_where_the_kernel_could_not_read_its_first_line(tmp_path: Path) -> None:
    python = executable(tmp_path / "with space" / "python", f'exec "{sys.executable}" "$@"')
    name, content = manage.launcher(python, ROOT / "manage.py", windows=False)
    command = tmp_path / name
    command.write_text(content)
    command.chmod(0o755)
    shown = subprocess.run([command, "--help"], capture_output=True, text=True, check=False)
    assert shown.stdout == manage.OVERVIEW


def test_on_windows_the_command_is_a_batch_file_with_quoted_paths() -> None:
    name, content = manage.launcher(Path("C:/A B/python.exe"), Path("C:/A B/m.py"), windows=True)
    assert (name, content) == ("codememory.cmd", '@"C:/A B/python.exe" "C:/A B/m.py" %*\r\n')


def test_on_windows_the_command_is_a_child_whose_status_is_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(manage.STARTED, raising=False)
    command = [sys.executable, "-c", "raise SystemExit(7)"]
    assert manage.restart(command, windows=True) == 7


def test_on_windows_the_launcher_is_asked_for_each_version() -> None:
    assert manage.candidates("", windows=True)[:2] == [["py", "-3.12"], ["py", "-3.11"]]
    assert manage.interpreter(Path("v"), windows=True) == Path("v/Scripts/python.exe")


def test_becoming_the_command_for_ever_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(manage.STARTED, str(os.getpid()))
    with pytest.raises(SystemExit, match="remove it"):
        manage.restart(["/bin/true"])


def test_a_python_that_exists_and_fails_is_passed_over(tmp_path: Path) -> None:
    broken = executable(tmp_path / "a" / "python3.12", "echo no such version >&2; exit 127")
    good = executable(tmp_path / "b" / "python3.12", "echo 3.12")
    found = manage.candidates(f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    assert found == [[str(broken)], [str(good)]]
    assert [manage.probe(command) for command in found] == [None, "3.12"]


def test_a_python_without_ensurepip_is_passed_over(tmp_path: Path) -> None:
    python = executable(tmp_path / "python3", "echo 'No module named ensurepip' >&2; exit 1")
    assert manage.probe([str(python)]) is None


@pytest.mark.parametrize("answer", ["3.10", "3.13", "hello"])
def test_a_python_of_another_version_is_passed_over(tmp_path: Path, answer: str) -> None:
    assert manage.probe([str(executable(tmp_path / "python3", f"echo {answer}"))]) is None


def test_the_starting_python_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manage, "probe", lambda _: "3.11")
    assert manage.find_python() == [getattr(sys, "_base_executable", sys.executable)]


@pytest.mark.parametrize("has_version", [True, False])
def test_when_no_python_fits_it_says_what_to_install(*, has_version: bool) -> None:
    assert "apt-get install python3 python3-venv" in manage.advice(has_version=has_version)


def test_variables_that_misplace_python_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/wrong")
    monkeypatch.setenv("PYTHONPATH", "/wrong")
    assert not {"PYTHONHOME", "PYTHONPATH"} & set(manage.clean())


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [(["migrate"], True), (["up", "--yes"], True), (["test"], False), (["up", "--help"], False)],
)
def test_most_commands_need_the_database(arguments: list[str], *, needed: bool) -> None:
    assert entry.needs_database(arguments) is needed


def test_evidence_of_the_demo_before_any_demo_is_refused_in_one_line(home: Path) -> None:
    refused = run("evidence", "S1", "--demo", CODEMEMORY_HOME=str(home))
    assert refused.returncode == 1
    assert refused.stderr == "codememory: there is no demo here yet: run demo first\n"


def test_an_unknown_command_is_a_mistake_of_usage(home: Path) -> None:
    refused = run("statsu", CODEMEMORY_HOME=str(home), SECRET_KEY="x" * 50)
    assert refused.returncode == 2
    # A first line may say where the database's programs were copied to.
    assert refused.stderr.splitlines()[-1] == (
        "codememory: unknown command 'statsu', did you mean status? `manage.py help` lists all"
    )


@pytest.mark.parametrize(
    ("started", "name"),
    [(["python", "/x/.venv/bin/codememory", "up"], "codememory"), (["python", "m", "up"], "m")],
)
def test_the_program_is_called_as_it_was_started(
    monkeypatch: pytest.MonkeyPatch, started: list[str], name: str
) -> None:
    monkeypatch.setattr(sys, "orig_argv", started)
    monkeypatch.setattr(sys, "argv", ["m", "up"])
    assert entry.program() == name


def test_help_of_the_command_names_the_command(environment: Path) -> None:
    command = manage.interpreter(environment).parent / "codememory"
    shown = subprocess.run([command, "up", "-h"], capture_output=True, text=True, check=False)
    assert shown.stdout.startswith("usage: codememory up")


def test_the_first_command_makes_the_database_and_stdout_stays_clean(home: Path) -> None:
    found = run("doctor", "--json", CODEMEMORY_HOME=str(home), SECRET_KEY="x" * 50)
    assert json.loads(found.stdout)["missing"] == []
    assert "preparing the database" in found.stderr


def test_a_database_of_ones_own_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    url = "postgresql://nobody@127.0.0.1:1/none"
    refused = run("createadmin", CODEMEMORY_HOME=str(tmp_path), DATABASE_URL=url)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1


def test_a_build_that_lost_its_parent_keeps_the_next_one_waiting(tmp_path: Path) -> None:
    code = "import manage, subprocess\nwith manage.alone():\n    print('alone', flush=True)\n"
    code += "    subprocess.call(['sleep', '2'], close_fds=False)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        time.sleep(0.2)
        first.kill()
    started = time.monotonic()
    with manage.alone():
        assert time.monotonic() - started > 0.5
