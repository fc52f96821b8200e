"""Every version of a document has its revision, and every change of its sections a row, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory import collect_documents, document_versions, runs
from codememory.collect import follow
from codememory.models import (
    Candidate,
    EvidenceSegment,
    GapRecord,
    Run,
    SectionChange,
    SourceRevision,
    WorktreeDocument,
)
from codememory.projects import primary_worktree, register_project
from codememory.slices import work_slice
from codememory.status import project_status
from tests.collected import collect, collect_source
from tests.repos import RepoBuilder

pytestmark = pytest.mark.django_db(transaction=True)

KEYS = "## Keys\n\nKeys must be kept for 30 days after their first use.\n"
RETRIES = "## Retries\n\nA retry must reuse the first key of its refund.\n"
PATH = "docs/rules.md"


def text(*parts: str) -> str:
    return "\n".join(["# Rules\n", *parts])


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "r")
    repo.write(PATH, text(KEYS, RETRIES))
    repo.commit()
    return repo


def kinds(commit: str = "HEAD") -> list[tuple[str, str | None, str | None]]:
    """What a commit did: kind, and the last heading on both sides."""
    rows = SectionChange.objects.filter(commit__oid=commit).order_by("old_start", "new_start")
    return [(row.kind, last(row.old_heading_path), last(row.new_heading_path)) for row in rows]


def last(path: list[str] | None) -> str | None:
    return path[-1] if path else None


def test_every_version_has_its_revision_and_only_heads_has_segments(repo: RepoBuilder) -> None:
    repo.write(PATH, text(KEYS.replace("30", "90"), RETRIES))
    repo.commit()
    collect(repo)
    current = WorktreeDocument.objects.get().revision_id
    assert SourceRevision.objects.count() == 2
    oids = set(SourceRevision.objects.values_list("object_oid", flat=True))
    assert oids == {repo.blob(PATH), repo.blob(PATH, "HEAD~1")}
    cited = Candidate.objects.exclude(replaces=None).values_list("replaces_id", flat=True)
    other = EvidenceSegment.objects.exclude(revision_id=current).values_list("pk", flat=True)
    assert set(other) == set(cited)


def test_a_new_document_adds_its_sections(repo: RepoBuilder) -> None:
    collect(repo)
    added = [("ADDED", None, name) for name in ("Rules", "Keys", "Retries")]
    assert kinds(repo.head()) == added


def test_a_changed_section_is_told_of_itself_only(repo: RepoBuilder) -> None:
    repo.write(PATH, text(KEYS.replace("30", "90"), RETRIES))
    head = repo.commit()
    collect(repo)
    assert kinds(head) == [("CHANGED", "Keys", "Keys")]


def test_a_moved_section_is_not_changed(repo: RepoBuilder) -> None:
    repo.write(PATH, text(RETRIES, KEYS))
    head = repo.commit()
    collect(repo)
    assert kinds(head) == [("MOVED", "Keys", "Keys")]


def test_a_renamed_document_keeps_its_sections(repo: RepoBuilder) -> None:
    repo.rename(PATH, "docs/new.md")
    head = repo.commit()
    collect(repo)
    assert kinds(head) == []
    assert SourceRevision.objects.count() == 2


def test_a_change_is_followed_through_a_rename(repo: RepoBuilder) -> None:
    repo.rename(PATH, "docs/new.md")
    repo.write("docs/new.md", text(KEYS.replace("30", "90"), RETRIES))
    head = repo.commit()
    collect(repo)
    assert kinds(head) == [("CHANGED", "Keys", "Keys")]
    change = SectionChange.objects.get(kind="CHANGED")
    assert bytes(change.old_revision.path.raw) == PATH.encode()


def test_a_section_is_followed_into_another_document(repo: RepoBuilder) -> None:
    repo.write(PATH, text(KEYS))
    repo.write("docs/retries.md", RETRIES)
    head = repo.commit()
    collect(repo)
    assert kinds(head) == [("MOVED", "Retries", "Retries")]


def test_a_removed_document_removes_its_sections(repo: RepoBuilder) -> None:
    repo.remove(PATH)
    head = repo.commit()
    collect(repo)
    assert [kind for kind, _, _ in kinds(head)] == ["REMOVED"] * 3


def test_a_merge_did_only_what_none_of_its_parents_has(repo: RepoBuilder) -> None:
    repo.branch("side")
    repo.write(PATH, text(KEYS, RETRIES.replace("first", "last")))
    repo.commit()
    repo.checkout("main")
    repo.write(PATH, text(KEYS.replace("30", "90"), RETRIES))
    repo.commit()
    merge = repo.merge("side")
    collect(repo)
    assert kinds(merge) == []
    assert SourceRevision.objects.filter(object_oid=repo.blob(PATH)).exists()


def test_a_merge_owns_the_section_that_it_rewrote(repo: RepoBuilder) -> None:
    repo.branch("side")
    repo.write(PATH, text(KEYS, RETRIES.replace("first", "last")))
    repo.commit()
    repo.checkout("main")
    repo.write(PATH, text(KEYS.replace("30", "90"), RETRIES))
    repo.commit()
    repo.git("merge", "-q", "--no-commit", "side")
    repo.write(PATH, text(KEYS.replace("30", "60"), RETRIES.replace("first", "last")))
    merge = repo.commit()
    collect(repo)
    assert kinds(merge) == [("CHANGED", "Keys", "Keys")]


def test_an_unreadable_version_is_a_gap_and_says_nothing_of_sections(repo: RepoBuilder) -> None:
    repo.write(PATH, b"# Rules\n\n\xff\xfe\xfd\n")
    broken = repo.commit()
    repo.write(PATH, text(KEYS, RETRIES))
    repaired = repo.commit()
    collect(repo)
    assert (kinds(broken), kinds(repaired)) == ([], [])
    gap = GapRecord.objects.get(reason="UNSUPPORTED_ENCODING", commit_oid=broken)
    assert bytes(gap.path.raw) == PATH.encode()


def test_collecting_again_adds_nothing(repo: RepoBuilder) -> None:
    repo.write(PATH, text(RETRIES, KEYS.replace("30", "90")))
    repo.commit()
    project = collect(repo)
    before = (SourceRevision.objects.count(), SectionChange.objects.count())
    run = collect_source(project, "documents")
    assert (run.state, run.done) == ("DONE", 0)
    assert (SourceRevision.objects.count(), SectionChange.objects.count()) == before


def test_the_whole_history_read_once_more_adds_nothing(repo: RepoBuilder) -> None:
    repo.write(PATH, text(RETRIES, KEYS.replace("30", "90")))
    repo.commit()
    project = collect(repo)
    before = list(SectionChange.objects.values_list("pk", flat=True))
    cursor = Run.objects.filter(source="documents").latest("pk").cursor
    cursor["history"]["after"] = 0
    Run.objects.filter(source="documents").update(cursor=cursor)
    assert collect_source(project, "documents").done == 2
    assert list(SectionChange.objects.values_list("pk", flat=True)) == before


def test_an_interrupted_history_is_read_on(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_versions, "_NEXT", document_versions._NEXT.replace("200", "1"))
    monkeypatch.setattr(document_versions, "BATCH_ROWS", 1)
    for days in range(31, 36):
        repo.write(PATH, text(KEYS.replace("30", str(days)), RETRIES))
        repo.commit()
    project = collect(repo, ("git",))
    run = runs.request_run(primary_worktree(project), "documents", 1, None)
    while (claim := runs.claim_run(run.pk)) is not None:
        work_slice(claim, seconds=0)
    run.refresh_from_db()
    assert run.state == "DONE"
    assert SectionChange.objects.filter(kind="CHANGED").count() == 5
    assert SourceRevision.objects.count() == 6


def test_without_the_history_head_is_read_and_the_rest_later(repo: RepoBuilder) -> None:
    repo.write(PATH, text(KEYS.replace("30", "90"), RETRIES))
    repo.commit()
    project = collect(repo, ("documents",))
    assert SourceRevision.objects.count() == 1
    assert project_status(project)["sources"]["documents"]["state"] == "PARTIAL"
    collect(repo)
    assert SourceRevision.objects.count() == 2
    assert project_status(project)["sources"]["documents"]["state"] == "COMPLETE"


def test_documents_wait_while_their_history_is_being_read(repo: RepoBuilder) -> None:
    project, _ = register_project(repo.root)
    worktree = primary_worktree(project)
    history = runs.request_run(worktree, "git", 1, None)
    documents = runs.request_run(worktree, "documents", 1, None)
    ended = follow([history.pk, documents.pk])
    assert [run.state for run in ended] == ["DONE", "DONE"]
    assert SectionChange.objects.count() == 3


def test_a_run_does_not_wait_for_a_history_that_nobody_reads(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect_documents, "MAX_WAITS", 1)
    project, _ = register_project(repo.root)
    runs.request_run(primary_worktree(project), "git", 1, None)
    documents = runs.request_run(primary_worktree(project), "documents", 1, None)
    assert follow([documents.pk])[0].state == "DONE"
    assert not SectionChange.objects.exists()
