# ruff: noqa: RUF001 (letters that look alike are among the cases)
"""The index as it is written and asked: exact frequencies, ranked hits, never an error."""

from __future__ import annotations

import hashlib

import pytest
from django.db import connection

from codememory.errors import BadCursorError
from codememory.models import (
    EntryKind,
    FileChange,
    GitCommit,
    LogicalChange,
    Path,
    Project,
    SearchEntry,
    SearchTerm,
    SearchTotal,
)
from codememory.search.change_fields import ChangedFile, change_fields, text_impacts
from codememory.search.entries import NewEntry, remove_entries, write_changes, write_entries
from codememory.search.query import Hit, explain, search
from collectors.values import Hunk
from tests.builders import make_candidate, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


def add_change(project: Project, text: str, path: bytes = b"src/a.py") -> int:
    """Index a change that adds this text as a new file; returns the logical change's id."""
    identity = hashlib.sha256(path + text.encode()).digest()
    change = LogicalChange.objects.create(
        scope=project.scope, identity=identity, files=1, added_lines=1, removed_lines=0
    )
    new = text.encode() + b"\n"
    lines = text.count("\n") + 1
    hunk = Hunk(0, 0, 1, lines, 0, 0, 0, len(new), b"", b"")
    fields = change_fields([ChangedFile(None, path, None, new, (hunk,))]).weighed()
    assert write_changes(project.scope_id, [(change.pk, fields)]) == 1
    return change.pk


def remove_lines(project: Project, text: str, path: bytes) -> int:
    """Index a change that removes this text from a file."""
    identity = hashlib.sha256(b"-" + path + text.encode()).digest()
    change = LogicalChange.objects.create(
        scope=project.scope, identity=identity, files=1, added_lines=0, removed_lines=1
    )
    old = text.encode() + b"\nkept = 1\n"
    hunk = Hunk(1, text.count("\n") + 1, 0, 0, 0, len(text) + 1, 0, 0, b"", b"")
    fields = change_fields([ChangedFile(path, path, old, b"kept = 1\n", (hunk,))]).weighed()
    write_changes(project.scope_id, [(change.pk, fields)])
    return change.pk


def add_text(project: Project, target_id: int, text: str) -> int:
    entry = NewEntry(EntryKind.CANDIDATE, target_id, text_impacts({"body": text}))
    return write_entries(project.scope_id, [entry])


def show_at(project: Project, change_id: int, path: bytes) -> None:
    """Say which file a change touched, as collecting history does."""
    row = Path.objects.create(scope=project.scope, raw=path, digest=hashlib.sha256(path).digest())
    commit = GitCommit.objects.create(
        scope=project.scope,
        oid=f"{change_id:040x}",
        tree_oid="0" * 40,
        author_name=b"",
        author_email=b"",
        author_time=0,
        author_offset=0,
        committer_time=0,
        message=b"fx",
    )
    FileChange.objects.create(
        scope=project.scope,
        commit=commit,
        parent_index=0,
        kind="A",
        old_mode=0,
        new_mode=0o100644,
        new_path=row,
        path_class="NORMAL",
        logical_change_id=change_id,
    )


def targets(project: Project, question: str) -> list[int]:
    return [hit.target_id for hit in search([project.scope_id], question).hits]


def frequencies(project: Project) -> dict[str, tuple[int, int]]:
    rows = SearchTerm.objects.filter(scope=project.scope)
    return {row.term: (row.df_change, row.df_text) for row in rows}


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("今天玩成语接龙游戏", "成语接龙"),
        ("重启设备以后看早报", "早报"),
        ("打开C盘吧", "C盘"),
        ("한국어를 배운다", "한국어"),
        ("загрузка данных", "данных"),
        ("η λέξη", "λέξη"),
        ("كلمة هنا", "كلمة"),
        ("un café", "café"),
        ("İADE", "iade"),
        ("IŞIK", "ışık"),
        ("IŞIK", "isik"),
        ("INIT", "init"),
        ("getUserById(1)", "refund the user by id"),
        ("OrderService.refund()", "refund"),
    ],
)
def test_it_finds_words_of_every_script(project: Project, stored: str, asked: str) -> None:
    add_change(project, "nothing of it", b"other.txt")
    wanted = add_change(project, stored)
    assert targets(project, asked)[:1] == [wanted]


def test_it_finds_a_path_by_its_parts(project: Project) -> None:
    wanted = add_change(project, "x = 1", b"src/refund.py")
    add_change(project, "y = 1", b"src/other.py")
    assert targets(project, "refund") == [wanted]


@pytest.mark.parametrize(
    ("exact", "near", "asked"),
    [
        ("getUserById", "get user by id", "getUserById"),
        ("ışık", "isik", "ışık"),
        ("isik", "ışık", "isik"),
        ("redis", "redistool redisproxy", "redis"),
    ],
)
def test_it_ranks_the_exact_form_first(project: Project, exact: str, near: str, asked: str) -> None:
    add_change(project, near)
    wanted = add_change(project, exact)
    add_change(project, "unrelated line")
    assert targets(project, asked)[0] == wanted


@pytest.mark.parametrize(
    "question",
    [
        *("", " ", "\x00", '"', "* ( ) :", "-", "a:b & c | !d", "%s %(x)s {0}", "\ud800"),
        *("'; DROP TABLE x --", "the of and", "x" * 10_000, "word " * 2_000, "é中\u0301" * 3_000),
    ],
)
def test_it_answers_any_question(project: Project, question: str) -> None:
    add_change(project, "def refund(order): ...")
    assert len(search([project.scope_id], question).hits) <= 1


def test_it_matches_any_of_the_words(project: Project) -> None:
    wanted = add_change(project, "def refund(order): ...")
    assert targets(project, "why did quux zorble refund") == [wanted]


def test_it_never_shows_another_project(project: Project) -> None:
    other = make_project("other")
    add_change(other, "def refund(order): ...")
    assert targets(project, "refund order src a py") == []


def test_it_reads_all_the_scopes_it_is_given(project: Project) -> None:
    other = make_project("other")
    add_change(project, "refund here")
    add_change(other, "refund there")
    hits = search([project.scope_id, other.scope_id], "refund").hits
    assert {hit.scope_id for hit in hits} == {project.scope_id, other.scope_id}


def test_it_keeps_to_the_kinds_asked_for(project: Project) -> None:
    add_change(project, "refund")
    add_text(project, make_candidate(project).pk, "refund")
    found = search([project.scope_id], "refund", [EntryKind.CANDIDATE]).hits
    assert [hit.kind for hit in found] == ["candidate"]
    assert search([project.scope_id], "refund", ["nonsense"]).hits == ()


@pytest.mark.parametrize("path", [b"src/a.py", b"src", b"src/"])
def test_it_keeps_to_a_file_or_a_folder(project: Project, path: bytes) -> None:
    wanted, other = add_change(project, "refund one"), add_change(project, "refund two", b"srcs/b")
    show_at(project, wanted, b"src/a.py")
    show_at(project, other, b"srcs/b")
    hits = search([project.scope_id], "refund", path=path).hits
    assert [hit.target_id for hit in hits] == [wanted]


def test_it_keeps_claims_to_the_path_of_their_evidence(project: Project) -> None:
    candidate = make_candidate(project)
    add_text(project, candidate.pk, "refund")
    link = candidate.evidence_links.get()
    path = bytes(link.segment.revision.path.raw)
    assert [hit.target_id for hit in search([project.scope_id], "refund", path=path).hits] == [
        candidate.pk
    ]
    assert search([project.scope_id], "refund", path=b"elsewhere.md").hits == ()


def all_pages(project: Project, question: str, limit: int) -> list[Hit]:
    hits: list[Hit] = []
    cursor = None
    while True:
        page = search([project.scope_id], question, limit=limit, cursor=cursor)
        hits += page.hits
        cursor = page.next
        if cursor is None:
            return hits


def test_it_puts_what_only_removes_first_when_a_removal_is_asked_for(project: Project) -> None:
    add_change(project, "legacy_token = 1\nother_name = 2", b"src/auth.py")
    wanted = remove_lines(project, "legacy_token = 1\nother_name = 2", b"src/auth.py")
    assert targets(project, "remove the legacy token")[0] == wanted


def test_it_still_ranks_entries_that_have_no_shape(project: Project) -> None:
    wanted = add_change(project, "refund order")
    add_change(project, "refund", b"b.py")
    SearchEntry.objects.update(shape=None, neighbours=None, analyser_revision=1)
    assert targets(project, "refund order")[0] == wanted


def test_its_pages_join_beyond_what_is_ranked_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codememory.search.query.RANKED_AGAIN", 3)
    for number in range(9):
        add_change(project, f"refund {number % 4}\n" * (1 + number % 3), b"f%d.py" % number)
    whole = search([project.scope_id], "refund 1", limit=50).hits
    assert all_pages(project, "refund 1", 2) == list(whole)
    assert [hit.score for hit in whole] == sorted((hit.score for hit in whole), reverse=True)


def test_its_pages_join_to_the_whole_list(project: Project) -> None:
    for number in range(7):
        add_change(project, f"refund {number % 3}", b"f%d.py" % number)
    whole = search([project.scope_id], "refund 1", limit=50).hits
    assert all_pages(project, "refund 1", 2) == list(whole)
    assert len(whole) == 7


@pytest.mark.parametrize("cursor", ["", "x", "é", "bnVsbA==", "W10=", "WzEsMl0=", "[" * 9_000])
def test_it_refuses_a_cursor_it_did_not_give(project: Project, cursor: str) -> None:
    with pytest.raises(BadCursorError):
        search([project.scope_id], "refund", cursor=cursor)


def test_it_refuses_the_cursor_of_another_question(project: Project) -> None:
    for number in range(3):
        add_change(project, f"refund {number}", b"f%d.py" % number)
    cursor = search([project.scope_id], "refund", limit=1).next
    with pytest.raises(BadCursorError):
        search([project.scope_id], "order", cursor=cursor)


def test_it_explains_the_score_it_gave(project: Project) -> None:
    add_change(project, "def refund_order(): ...")
    (hit,) = search([project.scope_id], "refund order").hits
    found = explain(project.scope_id, "refund order", hit.entry_id)
    assert found is not None
    assert found.second == pytest.approx(hit.score, abs=1e-5)
    assert {"refund", "order", "=refund_order"} <= {part.term for part in found.terms}
    assert [pair[:2] for pair in found.neighbours] == [("refund", "order")]


def test_the_parts_it_explains_are_the_whole_score(project: Project) -> None:
    add_change(project, "def refund_order(): ...")
    (hit,) = search([project.scope_id], "remove refund order").hits
    found = explain(project.scope_id, "remove refund order", hit.entry_id)
    assert found is not None
    assert sum(part.score for part in found.terms) == pytest.approx(found.first)
    beside = sum(pair[2] for pair in found.neighbours) + sum(found.shape.values())
    assert found.first + beside == pytest.approx(found.second)
    assert found.verbs == {"remove": 1.0}


def test_it_explains_nothing_that_is_not_there(project: Project) -> None:
    assert explain(project.scope_id, "refund", 1 << 40) is None


def test_it_counts_changes_and_texts_apart(project: Project) -> None:
    add_change(project, "refund")
    add_text(project, make_candidate(project).pk, "refund later")
    assert frequencies(project)["refund"] == (1, 1)
    total = SearchTotal.objects.get(scope=project.scope)
    assert (total.changes, total.texts) == (1, 1)


def test_it_writes_nothing_twice(project: Project) -> None:
    candidate = make_candidate(project).pk
    add_text(project, candidate, "refund later")
    before = frequencies(project)
    assert add_text(project, candidate, "refund later") == 0
    assert frequencies(project) == before


def test_it_moves_frequencies_with_a_changed_text(project: Project) -> None:
    candidate = make_candidate(project).pk
    add_text(project, candidate, "refund later")
    assert add_text(project, candidate, "refund sooner") == 1
    found = frequencies(project)
    assert (found["refund"], found["later"], found["sooner"]) == ((0, 1), (0, 0), (0, 1))


def test_it_takes_back_what_it_removes(project: Project) -> None:
    change = add_change(project, "refund order")
    assert remove_entries(project.scope_id, EntryKind.CHANGE, [change]) == 1
    assert set(frequencies(project).values()) == {(0, 0)}
    assert SearchTotal.objects.get(scope=project.scope).changes == 0
    assert targets(project, "refund") == []


def test_a_change_keeps_the_entry_it_has(project: Project) -> None:
    change = add_change(project, "refund")
    fields = change_fields([ChangedFile(None, b"b.py")]).weighed()
    assert write_changes(project.scope_id, [(change, fields)]) == 0
    assert targets(project, "refund") == [change]


def test_new_words_count_more_whether_in_one_batch_or_two(project: Project) -> None:
    other = make_project("other")
    texts = ["quokka", "quokka again", "quokka again and again"]
    for text in texts:
        add_change(project, text)
    rows = []
    for number, text in enumerate(texts):
        change = LogicalChange.objects.create(
            scope=other.scope, identity=bytes([number]), files=1, added_lines=1, removed_lines=0
        )
        hunk = Hunk(0, 0, 1, 1, 0, 0, 0, 0, b"", b"")
        rows.append(
            (
                change.pk,
                change_fields(
                    [ChangedFile(None, b"src/a.py", None, text.encode(), (hunk,))]
                ).weighed(),
            )
        )
    write_changes(other.scope_id, rows)
    assert impacts_of(project) == impacts_of(other)


def impacts_of(project: Project) -> list[dict[str, int]]:
    names = dict(SearchTerm.objects.filter(scope=project.scope).values_list("id", "term"))
    entries = SearchEntry.objects.filter(scope=project.scope).order_by("id")
    return [
        {names[term]: impact for term, impact in zip(e.terms, e.impacts, strict=True)}
        for e in entries
    ]


def test_its_terms_are_sorted_because_they_are_searched_by_halves(project: Project) -> None:
    add_change(project, "zebra apple mango")
    add_change(project, "mango zebra banana apple")
    for entry in SearchEntry.objects.filter(scope=project.scope):
        assert entry.terms == sorted(set(entry.terms))
        assert len(entry.terms) == len(entry.impacts)


def test_it_leaves_the_planner_as_it_was(project: Project) -> None:
    add_change(project, "refund")
    search([project.scope_id], "refund")
    with connection.cursor() as cursor:
        cursor.execute("SHOW enable_seqscan")
        assert cursor.fetchone() == ("on",)
