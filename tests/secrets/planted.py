"""A real repository full of planted secrets: in documents, code, changes, names, and all around."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.repos import RepoBuilder
from tests.secrets.corpus import Planted, plant

MARKED = "gh" + "p_"
FOLDERS = {"document": "docs", "code": "src", "url": "src", "lines": "src", "diff": "patches"}
# Names of files that are made of what the tests look up again.
SECRET = MARKED + "Zx8" + "Q1w2E3r4T5y6U7i8O9p0A1s2D3f4G5h6J"
RULE = "We decided that every refund needs a second signature."


def one_of_each(seed: int) -> list[Planted]:
    """The first planting of each kind in each place."""
    found: dict[tuple[str, str], Planted] = {}
    for planted in plant(seed, 1):
        found.setdefault((planted.kind, planted.place), planted)
    return list(found.values())


def plant_repository(root: Path, corpus: Iterable[Planted]) -> RepoBuilder:
    """Three commits: with the secrets, with half of them changed, and without most of them."""
    repo = RepoBuilder(root)
    repo.git("checkout", "-q", "-b", f"feature/{SECRET}")
    repo.write(f"docs/{SECRET}.md", f"# Refunds\n\n{RULE}\n")
    repo.write("docs/said.md", f"# Keys\n\nWe decided that the deploy token is {SECRET} for now.\n")
    repo.write(".codememoryignore", f"old/{SECRET}/\n")
    repo.write(f"old/{SECRET}/left-out.md", "# Left out\n")
    places = []
    for number, planted in enumerate(corpus):
        if planted.place == "path":
            place, text = planted.text, "# Notes\n\nWe decided to keep this.\n"
        else:
            suffix = "md" if planted.place == "document" else "py"
            place, text = f"{FOLDERS[planted.place]}/{number}.{suffix}", planted.text
        (repo.root / place).parent.mkdir(parents=True, exist_ok=True)
        (repo.root / place).write_text(text, encoding="utf-8")
        places.append(place)
    _commit(repo)
    for place in places[::2]:
        path = repo.root / place
        path.write_text("first line\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    _commit(repo)
    for place in places[::3]:
        (repo.root / place).unlink()
    _commit(repo)
    return repo


def _commit(repo: RepoBuilder) -> None:
    repo.git("add", "-A", "-f")
    repo.git("commit", "-q", f"--author=Bot {SECRET} <{SECRET}@example.org>", "-m", f"fx {SECRET}")


class Needles:
    """Every run of ten characters of every planted secret."""

    def __init__(self, corpus: Iterable[Planted]) -> None:
        self.windows: dict[str, str] = {}
        for planted in corpus:
            for piece in planted.pieces():
                self._add(piece, f"{planted.kind} in {planted.place}")
        self._add(SECRET, "the repository's own")
        self.sizes = sorted({len(window) for window in self.windows})

    def _add(self, piece: str, what: str) -> None:
        size = min(10, len(piece))
        for at in range(len(piece) - size + 1):
            self.windows.setdefault(piece[at : at + size], what)

    def found_in(self, text: str) -> set[str]:
        """What of the secrets the text shows."""
        return {
            f"{self.windows[window]}: {window}"
            for size in self.sizes
            for window in {text[at : at + size] for at in range(len(text) - size + 1)}
            & self.windows.keys()
        }
