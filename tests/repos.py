"""Builds real git repositories with plain git: fixed identities and dates, every message `fx`."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from collections.abc import Iterable
from pathlib import Path

_START = 1_700_000_000


class RepoBuilder:
    """`repo.write("a.py", "x"); oid = repo.commit()` in a new repository, or the one there."""

    def __init__(self, root: Path, *, object_format: str = "sha1") -> None:
        self.root = root
        self._time = _START
        if not root.exists():
            root.mkdir(parents=True)
            self.git("init", "-q", "-b", "main", f"--object-format={object_format}")
            self.git("config", "gc.auto", "0")

    def git(self, *arguments: str, text: bytes | None = None) -> str:
        """Run git here and return what it prints, without the last line end."""
        return self.git_bytes(*arguments, text=text).decode().removesuffix("\n")

    def git_bytes(self, *arguments: str, text: bytes | None = None) -> bytes:
        environment = {
            "PATH": os.defpath,
            "HOME": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "Alice",
            "GIT_AUTHOR_EMAIL": "alice@example.org",
            "GIT_COMMITTER_NAME": "Bob",
            "GIT_COMMITTER_EMAIL": "bob@example.org",
            "GIT_AUTHOR_DATE": f"{self._time} +0200",
            "GIT_COMMITTER_DATE": f"{self._time} +0000",
        }
        return subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=environment,
            input=text,
            check=True,
            capture_output=True,
        ).stdout

    def write(self, path: str | bytes, content: str | bytes) -> None:
        """Write a file and stage it."""
        place = self.root / os.fsdecode(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-f", "--", os.fsdecode(path))

    def remove(self, path: str) -> None:
        self.git("rm", "-q", "--", path)

    def rename(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", "--", old, new)

    def chmod(self, path: str, *, executable: bool = True) -> None:
        self.git("update-index", f"--chmod={'+' if executable else '-'}x", "--", path)
        (self.root / path).chmod(0o755 if executable else 0o644)

    def symlink(self, path: str, target: str) -> None:
        (self.root / path).symlink_to(target)
        self.git("add", "--", path)

    def submodule(self, path: str, oid: str) -> None:
        """A gitlink alone: the commit it names need not exist."""
        self.git("update-index", "--add", "--cacheinfo", f"160000,{oid},{path}")

    def commit(self, message: str = "fx") -> str:
        """Commit what is staged (or nothing) and return the commit's id."""
        self._time += 60
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
        return self.head()

    def import_commits(self, path: str, contents: Iterable[str]) -> None:
        """Many commits of one file at once, much faster than one by one."""
        stream = []
        for number, content in enumerate(contents, 1):
            who = f"Alice <alice@example.org> {_START + number} +0000"
            stream.append(
                f"commit refs/heads/main\nmark :{number}\ncommitter {who}\ndata 2\nfx\n"
                f"M 100644 inline {path}\ndata {len(content.encode())}\n{content}\n"
            )
        self.git("fast-import", "--quiet", text="".join(stream).encode())
        self.git("reset", "-q", "--hard", "main")

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Make a branch and go there."""
        self.git("checkout", "-q", "-b", name, start)

    def checkout(self, name: str) -> None:
        self.git("checkout", "-q", name)

    def merge(self, *names: str) -> str:
        """A merge commit, also where git could fast-forward."""
        self._time += 60
        self.git("merge", "-q", "--no-ff", "--no-verify", "-m", "fx", *names)
        return self.head()

    def blob(self, path: str, revision: str = "HEAD") -> str:
        return self.git("rev-parse", f"{revision}:{path}")

    def loose(self, oid: str) -> Path:
        """Where a loose object lies; new objects are loose until somebody packs them."""
        return self.root / ".git" / "objects" / oid[:2] / oid[2:]

    def drop(self, oid: str) -> None:
        """Lose an object, as a broken disk or a partial clone would."""
        self.loose(oid).unlink()

    def forge(self, oid: str, content: bytes, kind: bytes = b"blob") -> None:
        """Put other content under an object's name."""
        place = self.loose(oid)
        place.chmod(0o644)
        place.write_bytes(zlib.compress(b"%s %d\0" % (kind, len(content)) + content))

    def raw_rows(self, *options: str) -> int:
        """How many rows git itself shows for the whole history, every parent of a merge apart."""
        printed = self.git("log", "--raw", "-m", "-M", "--format=", *options)
        return sum(line.startswith(":") for line in printed.splitlines())


def stamp(root: Path) -> dict[str, tuple[int, str]]:
    """Modification time and content of everything below a folder: the same before and after."""
    found = {}
    for place in sorted(root.rglob("*")):
        status = place.lstat()
        if place.is_symlink():
            content = str(place.readlink())
        elif place.is_file():
            content = hashlib.sha256(place.read_bytes()).hexdigest()
        else:
            content = ""
        found[str(place.relative_to(root))] = (status.st_mtime_ns, content)
    return found


def make_tangled_repository(root: Path, *, object_format: str = "sha1") -> RepoBuilder:
    """Merges, renames, copies of content, modes, links, a submodule, odd names: one of each."""
    repo = RepoBuilder(root, object_format=object_format)
    text = "".join(f"line {number}\n" for number in range(40))
    repo.write("src/a.py", text)
    repo.write("docs/çeşme \t.md", "# Çeşme\n")
    first = repo.commit()
    repo.branch("side")
    repo.rename("src/a.py", "src/b.py")
    repo.write("src/b.py", text.replace("line 7", "line seven"))
    repo.commit()
    repo.symlink("link", "src/b.py")
    repo.submodule("sub", first)
    repo.commit()
    repo.checkout("main")
    repo.chmod("src/a.py")
    repo.write("data.bin", b"a\0b")
    repo.commit()
    repo.merge("side")
    repo.remove("data.bin")
    repo.write("node_modules/x/index.js", "let x = 1\n")
    repo.write("empty", "")
    repo.commit()
    return repo
