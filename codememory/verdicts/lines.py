"""Lines as the verdict rules see them: without whitespace, strong or weak, joined or one by one.

Every rule takes its texts through `TextFacts`, which computes each view of a file once.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, lru_cache
from hashlib import blake2b

STRONG_ALNUM = 10
STRONG_TOKENS = 2

_WHITESPACE_IN_LINE = b" \t\r\v\f"
_WHITESPACE = _WHITESPACE_IN_LINE + b"\n"
_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ALNUM = re.compile(r"[^\W_]")
_COMMA_BEFORE_CLOSE = re.compile(rb",(?=[)\]}])")
_IMPORT = re.compile(
    rb"\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|using\s+\S|use\s+[\w:]+|package\s+\S"
    rb"|require(?:_relative)?\b|@import\b|export\s.*\bfrom\b|(?:const|let|var)\s.*\brequire\()"
)
_PROSE_SUFFIXES = (b".md", b".rst", b".txt", b".markdown", b".adoc")

# Words that say nothing of which line this is: keywords and the names every file has.
_STOP_TEXT = """
    and as assert async await break case catch class const continue def default del do elif else
    end enum except export extends false finally fn for from func function global go goto if impl
    import in instanceof int interface is let match mut new nil none nonlocal not null or package
    pass private protected public pub raise require return self static str string struct super
    switch then this throw true try type typeof undefined use using var void while with yield
    args kwargs cls err error e i j k x y a b n s f ok bool object result value
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())


def normalise(line: bytes) -> bytes:
    """The line with every whitespace byte dropped."""
    return line.translate(None, _WHITESPACE)


def squash(normalised: bytes) -> bytes:
    """A normalised text as formatters leave it alone: one kind of quote, no trailing commas."""
    return _COMMA_BEFORE_CLOSE.sub(b"", normalised.replace(b"'", b'"'))


@lru_cache(maxsize=65536)
def has_alnum(normalised: bytes) -> bool:
    return bool(_ALNUM.search(normalised.decode("utf-8", "surrogateescape")))


@lru_cache(maxsize=65536)
def is_strong(line: bytes) -> bool:
    """Whether the line says enough to be recognised anywhere: measured, not guessed."""
    text = line.decode("utf-8", "surrogateescape")
    wide = len(_WIDE.findall(text))  # scripts without spaces: a character says about half a word
    if len(_ALNUM.findall(text)) + wide < STRONG_ALNUM:
        return False
    words = sum(word.lower() not in STOP_WORDS for word in _WORD.findall(text))
    return words + wide // 2 >= STRONG_TOKENS


def is_import(line: bytes) -> bool:
    return _IMPORT.match(line) is not None


def is_prose(path: bytes | None) -> bool:
    return path is not None and path.lower().endswith(_PROSE_SUFFIXES)


def line_hash(normalised: bytes) -> int:
    """64 bits of a normalised line; the same in every process."""
    return int.from_bytes(blake2b(normalised, digest_size=8).digest(), "big")


def split_lines(content: bytes, count: int | None = None) -> list[bytes]:
    """Lines as git counts them: ended by a line feed only; `count` says how many there are."""
    lines = content.split(b"\n")
    if count is not None:
        return lines[:count]
    if lines[-1] == b"":
        lines.pop()
    return lines


class TextFacts:
    """The views of one file's text that the rules compare."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.lines = split_lines(content)
        # As `normalise` of each line, at once: a question looks at tens of thousands.
        self.normals = split_lines(content.translate(None, _WHITESPACE_IN_LINE), len(self.lines))

    @cached_property
    def counts(self) -> Counter[bytes]:
        return Counter(self.normals)

    @cached_property
    def strong(self) -> list[int]:
        """Indexes of the strong lines, in order."""
        return [number for number, line in enumerate(self.lines) if is_strong(line)]

    @cached_property
    def solid(self) -> list[int]:
        """Indexes of the lines with an alphanumeric, in order."""
        return [number for number, normal in enumerate(self.normals) if has_alnum(normal)]

    @cached_property
    def solid_at(self) -> dict[int, int]:
        """Line index -> its position in `solid`."""
        return {number: at for at, number in enumerate(self.solid)}

    @cached_property
    def strong_places(self) -> dict[bytes, list[int]]:
        """Normalised strong line -> its positions in `strong`."""
        places: dict[bytes, list[int]] = {}
        for position, number in enumerate(self.strong):
            places.setdefault(self.normals[number], []).append(position)
        return places

    @cached_property
    def joined_normals(self) -> bytes:
        """The whole text without white space."""
        return b"".join(self.normals)

    @cached_property
    def _joined(self) -> tuple[bytes, frozenset[int]]:
        buffer = bytearray()
        edges = {0}
        for normal in self.normals:
            if not normal:
                continue
            if buffer.endswith(b",") and normal[:1] in (b")", b"]", b"}"):
                buffer.pop()
                edges.add(len(buffer))
            buffer += squash(normal)
            edges.add(len(buffer))
        return bytes(buffer), frozenset(edges)

    def has_joined(self, squashed: bytes, *, anywhere: bool) -> bool:
        """Whether the squashed text stands in the file across line ends.

        It must start and end where lines do, unless `anywhere` (prose is re-wrapped mid-line).
        """
        text, edges = self._joined
        at = text.find(squashed)
        while at >= 0:
            if anywhere or (at in edges and at + len(squashed) in edges):
                return True
            at = text.find(squashed, at + 1)
        return False
