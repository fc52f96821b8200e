"""Strict readers of the environment."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from codememory import env, home
from codememory.errors import SettingError


def test_a_secret_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("quiet\n")
    assert env.text("KEY", environ={"KEY_FILE": str(tmp_path / "secret")}) == "quiet"


def test_a_value_and_a_file_at_once_are_refused() -> None:
    with pytest.raises(SettingError, match="given twice"):
        env.text("KEY", environ={"KEY": "a", "KEY_FILE": "/b"})


def test_a_file_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(SettingError, match="cannot be read"):
        env.text("KEY", environ={"KEY_FILE": "/nonexistent"})


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("ON", True), ("no", False)])
def test_booleans_have_a_few_spellings(value: str, *, expected: bool) -> None:
    assert env.boolean("B", default=not expected, environ={"B": value}) is expected


def test_any_other_boolean_is_refused_without_being_repeated() -> None:
    with pytest.raises(SettingError) as refused:
        env.boolean("B", default=True, environ={"B": "maybe"})
    assert "maybe" not in str(refused.value)


def test_a_number_must_be_whole() -> None:
    with pytest.raises(SettingError, match="whole number"):
        env.integer("N", default=1, environ={"N": "1.5"})


def test_words_are_separated_by_commas() -> None:
    assert env.words("W", [], environ={"W": "a, b,,c "}) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("platform", "environ", "is_root", "expected"),
    [
        ("linux", {"HOME": "/home/a"}, False, "/home/a/.local/share/codememory"),
        ("linux", {"HOME": "/home/a", "XDG_DATA_HOME": "/d"}, False, "/d/codememory"),
        (
            "linux",
            {"HOME": "/home/a", "XDG_DATA_HOME": "rel"},
            False,
            "/home/a/.local/share/codememory",
        ),
        ("linux", {"HOME": "/root"}, True, "/var/lib/codememory"),
        ("darwin", {"HOME": "/Users/a"}, False, "/Users/a/Library/Application Support/CodeMemory"),
    ],
)
def test_the_home_is_the_platforms_folder_for_data(
    platform: str, environ: dict[str, str], expected: str, *, is_root: bool
) -> None:
    assert home.default_folder(platform, environ, is_root=is_root) == PurePosixPath(expected)


def test_on_windows_the_home_is_in_local_app_data() -> None:
    environ = {"LOCALAPPDATA": r"C:\Users\A B\AppData\Local"}
    found = home.default_folder("win32", environ, is_root=False)
    assert found == PureWindowsPath(r"C:\Users\A B\AppData\Local\CodeMemory")


def test_secrets_are_made_once_and_only_for_their_owner(tmp_path: Path) -> None:
    folder = home.prepare(tmp_path / "new")
    first = home.read_secret(folder, home.SECRET_KEY)
    home.prepare(folder)
    assert home.read_secret(folder, home.SECRET_KEY) == first
    assert (folder / home.SECRET_KEY).stat().st_mode & 0o777 == 0o600


def test_an_existing_home_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o751)
    home.prepare(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o751


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match="not a folder"):
        home.prepare(tmp_path / "file")
