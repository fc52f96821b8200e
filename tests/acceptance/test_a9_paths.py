"""A9: odd paths, odd contents and odd renames are followed, or said not to be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codememory.models import CodeFacts, FileChange, Reversal, SymbolChange
from codememory.timeline import history_of
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db


TILL = """\
class Till:
    def open(self):
        self.drawer.unlock(self.key)
        self.light.switch_on()

    def close(self):
        return self.drawer.lock() and self.count_of_coins
"""


def source(name: str, *, extra: str = "") -> str:
    steps = "".join(f"    {name}_{n} = order.{name}[{n}].amount\n" for n in range(12))
    return f"def {name}(order):\n{steps}{extra}    return {name}_0\n"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("a.py", source("refund"))
    repo.write("b.py", source("payment"))
    repo.commit()
    return repo


def history(repo: RepoBuilder, subject: str) -> dict[str, Any]:
    return history_of(collect(repo, ("git",)), subject)


def names(found: dict[str, Any]) -> list[str]:
    return [one["path"] for one in found["names"] if one["path"]]


def kinds(found: dict[str, Any]) -> list[str]:
    return [event["kind"] for event in found["events"]]


def test_a_case_only_rename_is_followed(repo: RepoBuilder) -> None:
    repo.git("mv", "-f", "a.py", "A.py")
    repo.commit()
    found = history(repo, "A.py")
    assert (names(found), kinds(found)) == (["a.py", "A.py"], ["R", "A"])


def test_two_files_that_swap_names_keep_their_own_history(repo: RepoBuilder) -> None:
    repo.write("b.py", TILL)
    repo.commit()
    repo.git("mv", "a.py", "c.py")
    repo.git("mv", "b.py", "a.py")
    repo.git("mv", "c.py", "b.py")
    repo.git("add", "-A")
    repo.commit()
    found = history(repo, "b.py:refund")
    assert [event["symbols"][0]["kind"] for event in found["events"]] == ["MOVED", "ADDED"]
    assert {event["symbols"][0]["name"] for event in found["events"]} == {"refund"}
    assert not Reversal.objects.exists()


def test_a_gitlink_that_becomes_a_folder_is_read_on(repo: RepoBuilder) -> None:
    repo.submodule("lib", repo.head())
    repo.commit()
    repo.git("rm", "-q", "--cached", "lib")
    repo.write("lib/tax.py", source("tax"))
    repo.commit()
    assert kinds(history(repo, "lib/tax.py")) == ["A"]
    assert kinds(history(repo, "lib")) == ["D", "A"]


def test_a_file_that_becomes_a_link_and_a_file_again_is_restored(repo: RepoBuilder) -> None:
    repo.git("rm", "-q", "a.py")
    repo.symlink("a.py", "b.py")
    repo.commit()
    repo.git("rm", "-q", "a.py")
    repo.write("a.py", source("refund"))
    repo.commit()
    found = history(repo, "a.py")
    assert kinds(found) == ["T", "T", "A"]
    assert found["events"][0]["reverts"][0]["commit"] == found["events"][1]["commit"]


def test_forty_files_renamed_and_edited_at_once_are_followed(repo: RepoBuilder) -> None:
    for number in range(40):
        repo.write(f"old/part_{number}.py", source(f"part_{number}"))
    repo.commit()
    for number in range(40):
        repo.rename(f"old/part_{number}.py", f"new/part_{number}.py")
        text = source(f"part_{number}", extra=f"    log({number})\n")
        repo.write(f"new/part_{number}.py", text)
    repo.commit()
    assert kinds(history(repo, "new/part_7.py")) == ["R", "A"]
    assert FileChange.objects.filter(kind="R").count() == 40
    assert SymbolChange.objects.filter(kind="MODIFIED").count() == 40


def test_a_symbol_that_moves_to_another_file_is_followed(repo: RepoBuilder) -> None:
    repo.write("c.py", source("tax"))
    repo.write("b.py", source("payment") + "\n\n" + source("refund"))
    repo.remove("a.py")
    repo.commit()
    found = history(repo, "b.py:refund")
    assert [event["symbols"][0]["from_path"] for event in found["events"]] == ["a.py", None]
    assert names(found) == ["a.py", "b.py"]


def test_a_line_of_a_megabyte_stops_nothing(repo: RepoBuilder) -> None:
    repo.write("a.py", source("refund", extra=f"    data = '{'x' * 1024 * 1024}'\n"))
    repo.commit()
    repo.write("a.py", source("refund"))
    repo.commit()
    found = history(repo, "a.py:refund")
    assert len(found["events"]) == 3
    assert len(found["events"][0]["reverts"]) == 1


def test_a_flip_of_line_endings_changes_no_symbol(repo: RepoBuilder) -> None:
    repo.write("a.py", source("refund").replace("\n", "\r\n"))
    repo.commit()
    found = history(repo, "a.py")
    assert found["events"][0]["content_class"] == "LINE_ENDINGS_ONLY"
    told = {symbol["kind"] for symbol in found["events"][0]["symbols"]}
    assert told <= {"FORMATTING_ONLY"}


def test_names_and_contents_that_are_no_utf8_are_told(repo: RepoBuilder) -> None:
    content = b"# \xe7e\xfeme\n" + source("refund").encode()
    repo.write(b"\xe7e\xfeme.py", content)
    repo.commit()
    found = history(repo, "\\xe7e\\xfeme.py:refund")
    assert found["events"][0]["symbols"][0]["new_lines"] == [2, 15]
    assert found["subject"]["path"] == "\\xe7e\\xfeme.py"


def test_a_language_without_a_grammar_is_textual_only(repo: RepoBuilder) -> None:
    repo.write("notes.xyz", "one\ntwo\nthree\n")
    repo.commit()
    gaps = history(repo, "notes.xyz")["gaps"]
    assert [gap["reason"] for gap in gaps] == ["TEXTUAL_ONLY"]
    assert set(CodeFacts.objects.values_list("coverage", flat=True)) == {"FULL", "TEXTUAL_ONLY"}


def test_a_name_in_two_files_is_a_choice(repo: RepoBuilder) -> None:
    repo.write("c.py", source("refund", extra="    other(order)\n"))
    repo.commit()
    found = history(repo, "refund")
    assert found["events"] == []
    assert [choice["ask"] for choice in found["choices"]] == ["c.py:refund", "a.py:refund"]


def test_what_goes_together_is_counted(repo: RepoBuilder) -> None:
    for number in range(3):
        for path, name in (("a.py", "refund"), ("b.py", "payment")):
            repo.write(path, source(name, extra=f"    log({number}, order)\n"))
        repo.commit()
    assert history(repo, "a.py")["co_changed"] == [
        {"path": "b.py", "support": 4, "confidence": 1.0}
    ]
    assert history(repo, "refund")["co_changed"][0]["symbol"] == "payment"
