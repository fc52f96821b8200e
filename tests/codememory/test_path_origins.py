"""Where a file may have come from: one of several equal sources is never chosen silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.facts import COPIED
from codememory.models import (
    FactsPhase,
    FactsProgress,
    GapRecord,
    OriginState,
    PathOrigin,
    Project,
    Role,
)
from codememory.path_origins import open_origins
from codememory.paths import shown_path
from codememory.people import actor_of
from codememory.reversals import SWEEP
from codememory.similar_copies import MOST_NEW
from codememory.status import project_status
from codememory.timeline import history_of
from review.explorer.origins import Settled, find_arrival, settle
from tests.builders import make_person
from tests.collected import collect
from tests.commands import said
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
    accept(project, open_origins(project.scope_id)[0])
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


def test_no_run_asks_again_what_a_person_settled(repo: RepoBuilder) -> None:
    repo.write("three/licence.txt", TEXT)
    repo.commit()
    project = collect(repo, ("git",))
    accept(project, open_origins(project.scope_id)[0])
    FactsProgress.objects.filter(phase=FactsPhase.REVERSALS).update(revision=0)
    collect(repo, ("git",))
    assert set(PathOrigin.objects.values_list("state", flat=True)) == {
        OriginState.ACCEPTED,
        OriginState.REFUSED,
    }


# Copies that were edited before they were committed


def code(names: str, body: str = "return shelf.count") -> str:
    """A module with a function of five lines for each name."""
    return "".join(
        f"def {name}(shelf, order):\n    assert shelf.is_open, '{name} needs an open shelf'\n"
        f"    log.info('{name} of order %s', order.number)\n"
        f"    {body} - order.reserved('{name}')\n\n\n"
        for name in names.split()
    )


SHELVES = code("lend give_back reserve count_them move_all renew")
EDITED = SHELVES.replace("shelf.count", "shelf.total").replace("def renew", "def prolong")


@pytest.fixture
def library(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "library")
    repo.write("src/shelves.py", SHELVES)
    repo.write("src/people.py", code("enrol leave pay"))
    repo.commit()
    return repo


def test_an_edited_copy_is_found_with_its_score(library: RepoBuilder) -> None:
    library.write("src/boxes.py", EDITED)
    library.commit()
    assert origins(library) == [("COPY", "src/shelves.py", "CERTAIN", False)]
    assert 50 <= PathOrigin.objects.get().score < 100


def test_an_edited_copy_says_so_in_its_history(library: RepoBuilder) -> None:
    library.write("src/boxes.py", EDITED)
    library.commit()
    project = collect(library, ("git",))
    (event,) = history_of(project, "src/boxes.py")["events"]
    (origin,) = event["origins"]
    assert (origin["kind"], origin["path"]) == ("COPY", "src/shelves.py")
    assert (
        "a copy of src/shelves.py (" in said("history", "src/boxes.py", "--project", "library").out
    )


def test_a_copy_of_what_the_same_commit_changed_is_of_what_was_there_before(
    library: RepoBuilder,
) -> None:
    library.write("elsewhere/boxes.txt", EDITED)
    library.write("src/shelves.py", code("lend"))
    library.commit()
    assert origins(library) == [("COPY", "src/shelves.py", "CERTAIN", False)]


def test_a_copy_of_what_a_file_became_is_equal(library: RepoBuilder) -> None:
    library.write("src/shelves.py", EDITED)
    library.commit()
    library.write("src/boxes.py", EDITED)
    library.commit()
    assert origins(library) == [("COPY", "src/shelves.py", "CERTAIN", False)]
    assert PathOrigin.objects.get().score == 100


def test_two_files_that_are_as_much_alike_stay_open(library: RepoBuilder) -> None:
    library.write("src/racks.py", SHELVES.replace("log.info", "log.debug", 1))
    library.commit()
    library.write("src/boxes.py", EDITED)
    library.commit()
    boxes = [one for one in origins(library) if one[2] == "OPEN"]
    assert {path for _, path, _, _ in boxes} == {"src/shelves.py", "src/racks.py"}


def test_a_licence_at_the_head_of_each_file_makes_no_copies(library: RepoBuilder) -> None:
    for name in "abcdefgh":
        library.write(f"src/{name}.py", TEXT + code(f"own_{name}"))
    library.commit()
    library.write("src/late.py", TEXT + code("own_late"))
    library.commit()
    assert origins(library) == []


def test_a_file_of_another_branch_is_no_source(library: RepoBuilder) -> None:
    library.branch("side")
    library.write("src/boxes.py", EDITED)
    library.commit()
    library.checkout("main")
    library.remove("src/shelves.py")
    library.commit()
    library.write("src/cases.py", EDITED.replace("def lend", "def hand_out"))
    library.commit()
    library.merge("side")
    collect(library, ("git",))
    assert not PathOrigin.objects.filter(file_change__new_path__raw=b"src/cases.py").exists()


def test_a_commit_with_very_many_new_files_says_what_is_not_sought(library: RepoBuilder) -> None:
    for number in range(MOST_NEW + 1):
        library.write(f"new/f{number}.txt", f"text number {number}\n" * 20)
    library.commit()
    project = collect(library, ("git",))
    gap = GapRecord.objects.get(scope_id=project.scope_id, reason="BUDGET")
    assert gap.detail == f"{COPIED} {MOST_NEW + 1} files"
    assert project_status(project)["sources"]["git"]["state"] == "COMPLETE"


def accept(project: Project, origin: PathOrigin) -> None:
    """Choose as a reviewer does who has the page open."""
    arrival = find_arrival(project, origin.file_change_id)
    assert arrival is not None
    alice = actor_of(make_person(project, Role.REVIEWER, "alice"))
    settled = settle(project, origin.file_change_id, str(origin.pk), arrival.seen, alice)
    assert isinstance(settled, Settled)
