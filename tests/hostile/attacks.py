"""Repositories whose settings, hooks and attributes try to run something when they are read.

Each builder takes an ordinary repository and the program that leaves a mark, and arms it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.repos import RepoBuilder

RULE = "Refunds must need two approvals."
Arm = Callable[[RepoBuilder, Path], None]


def ordinary(root: Path) -> RepoBuilder:
    """Two commits: a document and a text file of which a line is added."""
    repo = RepoBuilder(root)
    repo.write("README.md", f"# Title\n\n{RULE}\n")
    repo.write("a.txt", "one\n")
    repo.commit()
    repo.write("a.txt", "one\ntwo\n")
    repo.commit()
    return repo


def evil(folder: Path) -> Path:
    """A program that leaves a mark beside itself whenever it is run."""
    program = folder / "evil.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {folder}/MARK\ntimeout 2 cat\nexit 0\n')
    program.chmod(0o755)
    return program


def setting(*pairs: str) -> Arm:
    """Settings `key=value` with %s for the program."""

    def arm(repo: RepoBuilder, program: Path) -> None:
        for pair in pairs:
            key, _, value = pair.partition("=")
            repo.git("config", key, value.replace("%s", str(program)))

    return arm


def attributes(text: str, *pairs: str) -> Arm:
    """Attributes, both tracked and of the repository, with the settings they call upon."""

    def arm(repo: RepoBuilder, program: Path) -> None:
        repo.write(".gitattributes", text)
        repo.commit()
        (repo.root / ".git/info").mkdir(exist_ok=True)
        (repo.root / ".git/info/attributes").write_text(text)
        setting(*pairs)(repo, program)
        # The index is as old as the file: git would look into it again to be certain.
        moment = (repo.root / "a.txt").stat().st_mtime_ns
        os.utime(repo.root / ".git/index", ns=(moment, moment))

    return arm


def hooks(repo: RepoBuilder, program: Path) -> None:
    for name in (
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        shutil.copy(program, repo.root / ".git/hooks" / name)
    other = repo.root / "hooks"
    other.mkdir()
    shutil.copy(program, other / "post-index-change")
    repo.git("config", "core.hooksPath", str(other))


def split_index(repo: RepoBuilder, program: Path) -> None:
    repo.git("update-index", "--split-index")
    for shared in (repo.root / ".git").glob("sharedindex.*"):
        os.utime(shared, (1_600_000_000, 1_600_000_000))


def included(repo: RepoBuilder, program: Path) -> None:
    more = program.parent / "more.config"
    more.write_text(f"[core]\n\tfsmonitor = {program}\n[diff]\n\texternal = {program}\n")
    repo.git("config", "include.path", str(more))
    repo.git("config", f"includeIf.gitdir:{repo.root}/.path", str(more))
    repo.git("config", "core.repositoryformatversion", "1")
    repo.git("config", "extensions.worktreeConfig", "true")
    (repo.root / ".git/config.worktree").write_text(more.read_text())


def signed(repo: RepoBuilder, program: Path) -> None:
    """A commit that says it is signed: showing the signature would run a program."""
    text = repo.git("cat-file", "commit", "HEAD")
    head, _, message = text.partition("\n\n")
    body = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"
    oid = repo.git(
        "hash-object", "-t", "commit", "-w", "--stdin", text=f"{body}\n{message}\n".encode()
    )
    repo.git("update-ref", "refs/heads/main", oid)
    setting(
        "log.showSignature=true", "gpg.program=%s", "gpg.ssh.program=%s", "gpg.x509.program=%s"
    )(repo, program)


def promisor(url: str) -> Arm:
    """A partial clone whose missing blob git would fetch from there."""

    def arm(repo: RepoBuilder, program: Path) -> None:
        setting(
            f"remote.origin.url={url}",
            "remote.origin.uploadpack=%s",
            "remote.origin.promisor=true",
            "remote.origin.partialclonefilter=blob:none",
            "core.repositoryformatversion=1",
            "extensions.partialClone=origin",
            "core.sshCommand=%s",
            "protocol.ext.allow=always",
            "credential.helper=!%s",
            "http.proxy=http://127.0.0.1:9",
            "core.gitProxy=%s",
        )(repo, program)
        repo.drop(repo.blob("a.txt", "HEAD~1"))

    return arm


def submodule(repo: RepoBuilder, program: Path) -> None:
    other = ordinary(program.parent / "other")
    other.write("s.md", "# SECRET-OF-A-SUBMODULE\n")
    other.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(other.root), "sub")
    repo.commit()
    inner = RepoBuilder(repo.root / "sub")
    inner.git("config", "core.fsmonitor", str(program))
    (repo.root / "sub/s.md").write_text("dirty\n")
    setting("submodule.sub.ignore=none", "diff.ignoreSubmodules=none", "submodule.recurse=true")(
        repo, program
    )


def embedded_bare(repo: RepoBuilder, program: Path) -> None:
    """A folder of the project that looks like a bare repository, and a nested checkout."""
    docs = repo.root / "docs"
    for name in ("objects", "refs"):
        (docs / name).mkdir(parents=True)
    repo.write("docs/HEAD", "ref: refs/heads/main\n")
    repo.write("docs/config", f"[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {program}\n")
    repo.write("docs/guide.md", "# Guide\n")
    repo.commit()
    nested = ordinary(repo.root / "nested")
    nested.write("n.md", "# SECRET-OF-A-NESTED-CHECKOUT\n")


def foreign_owner(repo: RepoBuilder, program: Path) -> None:
    if os.getuid() == 0:
        for place in [repo.root, *repo.root.rglob("*")]:
            os.chown(place, 12_345, 12_345, follow_symlinks=False)


def options(repo: RepoBuilder, program: Path) -> None:
    """A branch, a tag and files named like options, pathspec magic and a line break."""
    head = repo.head()
    for name in ("refs/heads/--output=MARK", "refs/tags/--upload-pack=x"):
        place = repo.root / ".git" / name
        place.write_text(head + "\n")
    for name in ("--output=MARK", ":(top,glob)**", ":!a.txt", "line\nbreak.md", "-p"):
        (repo.root / name).write_text(f"# {name!r}\n")
    repo.git("add", "-A", "--", ".")
    repo.commit()
    (repo.root / ".git/HEAD").write_text("ref: refs/heads/--output=MARK\n")
    (repo.root / ".git/refs/heads/--output=MARK").write_text(
        (repo.root / ".git/refs/heads/main").read_text()
    )


def sparse(repo: RepoBuilder, program: Path) -> None:
    repo.write("far/away.md", "# Away\n")
    repo.commit()
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "near")


ARMED: dict[str, Arm] = {
    "1 fsmonitor": setting("core.fsmonitor=%s"),
    "2 hooks": hooks,
    "3 index refresh": setting("core.untrackedCache=true", "core.checkStat=minimal"),
    "4 split index": split_index,
    "5 external diff": attributes("* diff=evil\n", "diff.external=%s", "diff.evil.command=%s"),
    "6 text conversion": attributes("* diff=evil\n", "diff.evil.textconv=%s"),
    "7 clean filter": attributes(
        "* filter=evil\n",
        "filter.evil.clean=%s",
        "filter.evil.process=%s",
        "filter.evil.smudge=%s",
        "filter.evil.required=true",
    ),
    "8 included settings": included,
    "9 signature programs": signed,
    "10 pagers": setting("core.pager=%s", "pager.log=%s", "pager.rev-list=%s", "core.editor=%s"),
    "11 aliases": setting("alias.cat-file=!%s", "alias.rev-list=!%s", "alias.diff-tree=!%s"),
    "12 promisor by program": promisor("/nonexistent"),
    "12 promisor by ext": promisor("ext::%s"),
    "12 promisor by ssh": promisor("ssh://127.0.0.1:9/x"),
    "12 promisor by http": promisor("http://127.0.0.1:9/x"),
    "14 alternate refs": setting("core.alternateRefsCommand=%s"),
    "20 embedded bare repository": embedded_bare,
    "21 foreign owner": foreign_owner,
    "22 submodule": submodule,
    "24 names like options": options,
    "26 attributes that hide text": attributes("* -diff -text\n"),
    "28 blame settings": setting("blame.ignoreRevsFile=/etc/passwd", "mailmap.file=/etc/passwd"),
    "34 sparse index": sparse,
    "36 helpers of the network": setting(
        "credential.helper=!%s", "url.ext::%s.insteadOf=x", "core.askPass=%s"
    ),
    "37 monitor and maintenance": setting(
        "core.fsmonitor=true", "gc.auto=1", "maintenance.auto=true", "core.untrackedCache=true"
    ),
    "39 regular expressions": attributes("* diff=slow\n", "diff.slow.xfuncname=(a*)*(b*)*$"),
}
