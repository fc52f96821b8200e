"""Where a file may have come from: one of several equal sources is never chosen silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.models import Actor, ActorKind, GapRecord, OriginState, PathOrigin
from codememory.path_origins import open_origins, settle_origin
from codememory.paths import shown_path
from codememory.reversals import SWEEP
from codememory.status import project_status
from codememory.timeline import history_of
from tests.collected import collect
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db
TEXT = "".join(f"line {n} of a licence that stands in many places\n" for n in range(9))


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.write("one/licence.txt", TEXT)
    repo.write("two/licence.txt", TEXT)
    repo.commit()
    return repo


def origins(repo: RepoBuilder) -> list[tuple[str, str | None, str, bool]]:
    collect(repo, ("git",))
    rows = PathOrigin.objects.order_by("pk").select_related("source")
    return [(r.kind, shown_path(bytes(r.source.raw)), r.state, r.is_listed) for r in rows]


def add_many(repo: RepoBuilder, count: int, text: str, folder: str) -> None:
    """A commit that adds so many files of one content, without writing them."""
    blob = repo.git("hash-object", "-w", "--stdin", text=text.encode())
    lines = "".join(f"100644 {blob}\t{folder}/f{n}.txt\n" for n in range(count))
    repo.git("update-index", "--add", "--index-info", text=lines.encode())
    repo.git("commit", "-qm", "fx")


def test_a_content_that_stands_everywhere_is_nobodys_copy(repo: RepoBuilder) -> None:
    add_many(repo, 300, TEXT, "many")
    add_many(repo, 300, TEXT, "more")
    assert origins(repo) == []


def test_a_sweep_over_thousands_of_equal_files_says_what_is_not_looked_for(
    repo: RepoBuilder,
) -> None:
    add_many(repo, SWEEP + 1, TEXT, "many")
    project = collect(repo, ("git",))
    gaps = GapRecord.objects.filter(scope_id=project.scope_id, reason="BUDGET")
    assert [gap.detail for gap in gaps] == [f"reversals not sought in {SWEEP + 1} files"]
    assert project_status(project)["sources"]["git"]["state"] == "COMPLETE"


def test_a_rename_with_two_equal_sources_stays_open(repo: RepoBuilder) -> None:
    repo.remove("one/licence.txt")
    repo.rename("two/licence.txt", "three/licence.txt")
    repo.commit()
    found = origins(repo)
    renames = [one for one in found if one[0] == "RENAME"]
    assert [(path, state) for _, path, state, _ in renames] == [
        ("one/licence.txt", "OPEN"),
        ("two/licence.txt", "OPEN"),
    ]
    assert sum(is_listed for *_, is_listed in renames) == 1


def test_an_open_rename_is_not_followed_and_an_accepted_one_is(repo: RepoBuilder) -> None:
    repo.remove("one/licence.txt")
    repo.rename("two/licence.txt", "three/licence.txt")
    repo.commit()
    project = collect(repo, ("git",))
    before = history_of(project, "three/licence.txt")
    assert len(before["events"]) == 1
    assert "ORIGIN_OPEN" in {gap["reason"] for gap in before["gaps"]}
    alice = Actor.objects.create(kind=ActorKind.PERSON, name="alice")
    settle_origin(project.scope_id, open_origins(project.scope_id)[0].pk, alice, is_accepted=True)
    assert history_of(project, "three/licence.txt")["names"][0]["path"] == "one/licence.txt"


def test_equal_files_of_one_commit_are_no_copies_of_each_other(repo: RepoBuilder) -> None:
    assert origins(repo) == []


def test_a_copy_of_one_file_is_certain(repo: RepoBuilder) -> None:
    repo.write("a.txt", TEXT.replace("licence", "readme"))
    repo.commit()
    repo.write("b.txt", TEXT.replace("licence", "readme"))
    repo.commit()
    assert origins(repo) == [("COPY", "a.txt", "CERTAIN", False)]


def test_a_copy_that_could_be_of_two_files_stays_open(repo: RepoBuilder) -> None:
    repo.write("three/licence.txt", TEXT)
    repo.commit()
    assert [one[:3] for one in origins(repo)] == [
        ("COPY", "one/licence.txt", "OPEN"),
        ("COPY", "two/licence.txt", "OPEN"),
    ]


def test_small_contents_say_nothing(repo: RepoBuilder) -> None:
    repo.write("a/__init__.py", "\n")
    repo.commit()
    repo.write("b/__init__.py", "\n")
    repo.commit()
    assert origins(repo) == []


def test_a_person_settles_it_once_and_no_run_asks_again(repo: RepoBuilder) -> None:
    repo.write("three/licence.txt", TEXT)
    repo.commit()
    project = collect(repo, ("git",))
    alice = Actor.objects.create(kind=ActorKind.PERSON, name="alice")
    first = open_origins(project.scope_id)[0]
    assert settle_origin(project.scope_id, first.pk, alice, is_accepted=True)
    assert not settle_origin(project.scope_id, first.pk, alice, is_accepted=False)
    collect(repo, ("git",))
    assert set(PathOrigin.objects.values_list("state", flat=True)) == {
        OriginState.ACCEPTED,
        OriginState.REFUSED,
    }
