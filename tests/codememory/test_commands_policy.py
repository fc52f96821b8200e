"""policy: shows, previews to the path, and sets; a refused change says why and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from codememory.models import AuditEvent, GapRecord, Policy, Project
from codememory.policies import newest_policy
from tests.collected import collect
from tests.commands import said
from tests.repos import RepoBuilder

AT = ("--project", "shop")


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    repo = RepoBuilder(tmp_path / "shop")
    for number in range(5):
        repo.write(f"drafts/{number}.md", f"# Draft {number}\n\nIt must be {number}.\n")
    repo.write("shop.py", "x = 1\n")
    repo.write("vendor/a/README.md", "# A\n")
    repo.commit()
    return collect(repo)


def generations() -> int:
    return Policy.objects.count()


def test_it_shows_every_key(project: Project) -> None:
    shown = said("policy", *AT)
    assert "sources             git=enabled documents=enabled" in shown.out
    assert "max_blob_bytes      2MiB" in shown.out
    assert said("policy", "show", *AT, "--json").document["policy"]["provider"] is False


def test_its_help_says_what_each_key_means_and_what_is_not_there_yet(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    said("policy", "--help")
    text = " ".join(capsys.readouterr().out.split())
    assert "Stored and shown; nothing deletes by it yet." in text
    assert "on is refused, since nothing here sends any" in text


def test_a_preview_counts_by_rule_with_examples(project: Project) -> None:
    shown = said("policy", "preview", "exclude", "drafts/", *AT).out
    assert "5 paths no longer read" in shown
    assert "drafts/0.md, drafts/1.md, drafts/2.md, …" in shown
    assert generations() == 1


def test_all_lists_every_path(project: Project) -> None:
    shown = said("policy", "preview", "exclude", "drafts/", *AT, "--all").out
    found = said("policy", "preview", "exclude", "drafts/", *AT, "--all", "--json").document
    assert all(f"drafts/{number}.md  (documents; drafts/)" in shown for number in range(5))
    assert len([p for p in found["paths"] if p["effect"] == "dropped"]) == 10
    assert found["counts"] == {"included": 0, "excluded": 5, "dropped": 5}


def test_a_preview_tells_what_would_be_newly_read(project: Project) -> None:
    found = said("policy", "preview", "exclude", "!vendor/", *AT, "--all", "--json").document
    assert found["paths"] == [
        {
            "effect": "included",
            "source": "documents",
            "path": "vendor/a/README.md",
            "rule": "!vendor/",
        }
    ]


def test_disabling_a_source_stops_reading_and_archiving_stops_serving(project: Project) -> None:
    disabled = said("policy", "preview", "sources", "documents=disabled", *AT, "--json").document
    archived = said("policy", "preview", "sources", "documents=archived", *AT, "--json").document
    assert disabled["counts"] == {"included": 0, "excluded": 5, "dropped": 0}
    assert archived["counts"] == {"included": 0, "excluded": 5, "dropped": 5}
    assert archived["no_longer_served"]["segments"] > 0
    assert {rule["rule"] for rule in archived["rules"]} == {"documents archived"}


def test_a_path_of_history_that_is_stored_is_previewed_too(
    project: Project, tmp_path: Path
) -> None:
    repo = RepoBuilder(tmp_path / "shop")
    repo.remove("drafts/0.md")
    repo.commit()
    found = said("policy", "preview", "exclude", "drafts/0.md", *AT, "--all", "--json").document
    assert found["counts"] == {"included": 0, "excluded": 0, "dropped": 1}


def test_set_asks_and_without_anybody_there_it_does_nothing(project: Project) -> None:
    refused = said("policy", "set", "exclude", "drafts/", *AT)
    assert (refused.status, "add --yes" in refused.err, generations()) == (1, True, 1)


def test_set_makes_a_generation_and_writes_it_down(project: Project) -> None:
    found = said("policy", "set", "exclude", "drafts/", *AT, "--yes", "--json").document
    event = AuditEvent.objects.get(action="policy.set")
    assert (found["is_set"], found["generation"]) == (True, 2)
    assert (event.facts["by"], bool(event.facts["account"])) == ("command line", True)
    assert event.facts["difference"] == {"exclude": {"added": ["drafts/"], "removed": []}}


def test_set_of_what_is_so_already_says_so(project: Project) -> None:
    shown = said("policy", "set", "untracked", "off", *AT, "--yes")
    assert "Nothing would change: that is generation 1." in shown.out
    assert generations() == 1


def test_globs_are_added_and_taken_away(project: Project) -> None:
    for words in (["a/", "b/"], ["!a/c", "--add"], ["b/", "--remove"]):
        said("policy", "set", "exclude", *words, *AT, "--yes")
    assert newest_policy(project).exclude == ["a/", "!a/c"]
    said("policy", "set", "exclude", "--clear", *AT, "--yes")
    assert newest_policy(project).exclude == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["set"], "say which key"),
        (["set", "exclude"], "say which globs"),
        (["set", "exclude", "x", "--remove"], "is not among the globs"),
        (["set", "exclude", "x", "--clear"], "exclude each other"),
        (["set", "untracked", "on", "--add"], "--add is for include and exclude"),
        (["set", "provider", "on"], "nothing to allow"),
        (["set", "colour", "red"], "there is no such key"),
        (["set", "disk_bytes", "lots"], "is no number of bytes"),
        (["show", "exclude"], "takes no key"),
    ],
)
def test_a_refusal_says_why_and_changes_nothing(
    project: Project, words: list[str], why: str
) -> None:
    refused = said("policy", *words, *AT, "--yes")
    assert (refused.status, why in refused.err, generations()) == (1, True, 1)


def test_a_preview_of_a_project_whose_folder_is_gone_counts_what_is_stored(
    project: Project, tmp_path: Path
) -> None:
    (tmp_path / "shop").rename(tmp_path / "gone")
    shown = said("policy", "preview", "exclude", "drafts/", *AT)
    assert "HEAD cannot be read" in shown.out
    assert "5 paths no longer served" in shown.out


def test_after_set_and_collect_the_paths_are_gaps(project: Project) -> None:
    said("policy", "set", "exclude", "drafts/", *AT, "--yes")
    assert said("collect", *AT, "--wait").status == 0
    gaps = GapRecord.objects.filter(source="documents", reason="EXCLUDED", detail="drafts/")
    assert gaps.count() == 5
