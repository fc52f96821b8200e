"""Markdown documents as sections and segments in the ranges of their original bytes.

Segments do not overlap and hold every line of the document that is not blank; sections nest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

from collectors.lines import Lines
from collectors.markdown import Block, atx_text, blocks, is_item_start
from collectors.outline import Outline
from collectors.policy import Policy
from collectors.redact import find_secrets, redact
from collectors.values import Document, Gap, GapReason, Redaction, Section, Segment

MAX_SEGMENT_BYTES = 4096
MAX_LIST_BYTES = 2000  # a longer list gives one segment per top-level item
MAX_SEGMENTS = 10_000
MAX_LINES = 40_000  # the dearest lines cost the parser 40 microseconds each, and then more
MAX_HEADING_CHARS = 300
OWN_BLOCK = "codememory's own block, lines"  # the detail of its gap

_SUFFIXES = (b".md", b".markdown")
OTHER_TEXT_SUFFIXES = (b".rst", b".adoc", b".asciidoc", b".txt", b".ipynb", b".mdx", b".org")

_INSTRUCTION_NAMES = frozenset(
    b"agents.md agents.override.md agent.md claude.md claude.local.md gemini.md qwen.md warp.md "
    b"skill.md .cursorrules .windsurfrules .clinerules .goosehints copilot-instructions.md".split()
)
_INSTRUCTION_FOLDERS = (
    b".cursor/rules/",
    b".windsurf/rules/",
    b".clinerules/",
    b".agents/",
    b".claude/",
    b".codex/",
    b".gemini/",
    b".github/instructions/",
    b".github/prompts/",
    b".github/chatmodes/",
    b".junie/",
    b".amazonq/rules/",
    b".roo/",
    b".continue/rules/",
    b".kiro/steering/",
    b".openhands/microagents/",
    b"prompts/",
)

# What we write into a project's own files, and must not read back as the project's words.
_BLOCK_BEGIN = re.compile(rb"<!--[ \t]*codememory:begin\b[^>]*-->")
_BLOCK_END = re.compile(rb"<!--[ \t]*codememory:end[ \t]*-->")

# What a parser that meets a text it was not made for raises: one document must not end a run.
_PARSER_BUGS = (LookupError, TypeError, ValueError, AttributeError, RecursionError)

_UTF8_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def is_document(path: bytes) -> bool:
    """Whether the path names a document that `read_document` reads."""
    return path.lower().endswith(_SUFFIXES)


def is_other_text(path: bytes) -> bool:
    """Whether the path names prose in a format that is counted as not read."""
    return path.lower().endswith(OTHER_TEXT_SUFFIXES)


def is_instruction_file(path: bytes) -> bool:
    """Whether the file is written to steer a coding agent: its text is data, never an order."""
    folded = b"/" + path.lower()
    if folded.rpartition(b"/")[2] in _INSTRUCTION_NAMES:
        return True
    return any(b"/" + folder in folded for folder in _INSTRUCTION_FOLDERS)


def read_document(path: bytes, oid: str, content: bytes, policy: Policy) -> Document:
    """The document's structure; what cannot be read gives a document with a gap and no segments."""
    lines = Lines(content, len(_UTF8_BOM) if content.startswith(_UTF8_BOM) else 0)
    segments: tuple[Segment, ...] = ()
    sections: tuple[Section, ...] = ()
    why = _unreadable(lines, policy.max_blob_bytes)
    gaps = []
    if why is None:
        reading = _Reading(lines, policy)
        try:
            segments, sections = reading.read()
        except _PARSER_BUGS as error:
            why = (GapReason.PARSE_ERROR, type(error).__name__)
        if reading.left_out:
            why = (GapReason.BUDGET, f"{reading.left_out} blocks")
        if reading.own_lines:
            ranges = ", ".join(f"{first + 1}-{end}" for first, end in reading.own_lines)
            gaps.append(Gap(GapReason.EXCLUDED, path, oid, detail=f"{OWN_BLOCK} {ranges}"))
    if why is not None:
        gaps.append(Gap(why[0], path, oid, detail=why[1]))
    return Document(
        path=path,
        oid=oid,
        size=len(content),
        sha256=sha256(content).digest(),
        encoding=("utf-8-sig" if lines.starts[0] else "utf-8") if segments or not why else "",
        is_instruction_file=is_instruction_file(path),
        sections=sections,
        segments=segments,
        gaps=tuple(gaps),
    )


def _unreadable(lines: Lines, max_bytes: int) -> tuple[GapReason, str] | None:
    """Why it cannot be read, with a number; None where it can."""
    content = lines.content
    size = f"{len(content)} bytes"
    if len(content) > max_bytes:
        return GapReason.OVERSIZE, size
    if content.startswith(_WIDE_BOMS):
        return GapReason.UNSUPPORTED_ENCODING, size
    if b"\0" in content:
        return GapReason.BINARY, size
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return GapReason.UNSUPPORTED_ENCODING, f"at byte {error.start}"
    if len(lines) > MAX_LINES:
        return GapReason.PARSER_LIMIT, f"{len(lines)} lines"
    return None


class _Reading:
    """One document being read: its lines, its secrets and what was found so far."""

    def __init__(self, lines: Lines, policy: Policy) -> None:
        self.content = lines.content
        self.key = policy.redaction_key
        self.secrets = find_secrets(lines.content)
        self.lines = lines
        self.starts, self.ends = lines.starts, lines.ends
        self.own_lines: list[tuple[int, int]] = []  # [first, end) of each block of our own
        self.left_out = 0  # blocks that MAX_SEGMENTS left out, the last of them in part

    def read(self) -> tuple[tuple[Segment, ...], tuple[Section, ...]]:
        segments: list[Segment] = []
        outline = Outline(self.lines)
        found = self._blocks()
        for index, block in enumerate(found):
            if block.kind == "heading":
                outline.open(block.first, block.level, self._heading_text(block))
            elif not segments:
                outline.open_preamble(block.first)
            for segment in self._segments(block, outline.path):
                if len(segments) == MAX_SEGMENTS:
                    self.left_out = len(found) - index
                    return tuple(segments), outline.close()
                segments.append(segment)
        return tuple(segments), outline.close()

    def _blocks(self) -> list[Block]:
        """All blocks in lines of the whole document, without blank lines around them."""
        body = self._front_matter_end()
        start = self.starts[body] if body < len(self.lines) else len(self.content)
        text = self.content[start:].decode("utf-8")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        found = [Block("front_matter", 0, body)] if body else []
        found += [
            Block(block.kind, block.first + body, block.end + body, block.level, block.is_setext)
            for block in blocks(text if text.endswith("\n") else text + "\n")
        ]
        trimmed = (self._trimmed(block) for block in self._without_own(found))
        return [block for block in trimmed if block.first < block.end]

    def _without_own(self, found: list[Block]) -> Iterator[Block]:
        """Leave out what stands between our own marks; a mark that nothing closes is none."""
        own_end = 0
        for block in found:
            first = max(block.first, own_end)
            if first >= block.end:
                continue
            if block.kind == "html" and _BLOCK_BEGIN.match(self.lines.text(first).strip()):
                closing = (
                    line
                    for line in range(first, len(self.lines))
                    if _BLOCK_END.search(self.lines.text(line))
                )
                own_end = next(closing, first - 1) + 1
                if own_end > first:
                    self.own_lines.append((first, own_end))
                    first = own_end
                    if first >= block.end:
                        continue
            yield Block(block.kind, first, block.end, block.level, block.is_setext)

    def _trimmed(self, block: Block) -> Block:
        first, end = block.first, min(block.end, len(self.starts))
        while end > first and self.lines.is_blank(end - 1):
            end -= 1
        while first < end and self.lines.is_blank(first):
            first += 1
        return Block(block.kind, first, end, block.level, block.is_setext)

    def _front_matter_end(self) -> int:
        """The line after the front matter, 0 where there is none."""
        fence = self.lines.text(0).rstrip()
        if fence not in {b"---", b"+++"}:
            return 0
        closing = {b"---", b"..."} if fence == b"---" else {b"+++"}
        sign = b":" if fence == b"---" else b"="
        for line in range(1, len(self.starts)):
            text = self.lines.text(line).rstrip()
            if text in closing:
                # Two rules with prose between them are no front matter: it has keys from its start.
                return line + 1 if line == 1 or sign in self._first_text(1, line) else 0
        return 0

    def _first_text(self, first: int, end: int) -> bytes:
        for line in range(first, end):
            text = self.lines.text(line).strip()
            if text and not text.startswith(b"#"):
                return text
        return b""

    def _heading_text(self, block: Block) -> str:
        content, _ = self.redacted(self.starts[block.first], self.ends[block.end - 1])
        text = content.decode("utf-8", errors="replace")
        if block.is_setext:
            lines = [line.strip() for line in re.split(r"\r\n|\r|\n", text)]
            return " ".join(lines[:-1])[:MAX_HEADING_CHARS]
        return atx_text(text)[:MAX_HEADING_CHARS]

    def redacted(self, start: int, end: int) -> tuple[bytes, tuple[Redaction, ...]]:
        if not self.secrets:
            return self.content[start:end], ()
        return redact(self.content, self.secrets, self.key, start, end)

    def _segments(self, block: Block, path: tuple[str, ...]) -> Iterator[Segment]:
        for part in self._items(block):
            pieces = list(self._pieces(part))
            for index, (start, end, first, last) in enumerate(pieces):
                content, redactions = self.redacted(start, end)
                yield Segment(
                    kind=block.kind,
                    start=start,
                    end=end,
                    first_line=first + 1,
                    last_line=last + 1,
                    sha256=sha256(self.content[start:end]).digest(),
                    content=content,
                    heading_path=path,
                    is_truncated=index + 1 < len(pieces),  # the block goes on in the next segment
                    redactions=redactions,
                )

    def _items(self, block: Block) -> Iterator[Block]:
        """The block itself, or the top-level items of a list too long for one segment."""
        size = self.ends[block.end - 1] - self.starts[block.first]
        if block.kind != "list" or size <= MAX_LIST_BYTES:
            yield block
            return
        indent = _indent(self.lines.text(block.first))
        first, is_code = block.first, False
        for line in range(block.first + 1, block.end):
            raw = self.lines.text(line)
            is_code ^= raw.strip().startswith((b"```", b"~~~"))
            if is_code or _indent(raw) > indent or not is_item_start(raw.decode("utf-8")):
                continue
            yield self._trimmed(Block(block.kind, first, line))
            first = line
        yield Block(block.kind, first, block.end)

    def _pieces(self, block: Block) -> Iterator[tuple[int, int, int, int]]:
        """Ranges (start, end, first line, last line) of at most MAX_SEGMENT_BYTES, cut at lines."""
        start, first = self.starts[block.first], block.first
        for line in range(block.first, block.end):
            if self.ends[line] - start <= MAX_SEGMENT_BYTES:
                continue
            if line > first:
                last = self._trimmed(Block(block.kind, first, line)).end - 1
                yield start, self.ends[last], first, last
                first = line
                while self.lines.is_blank(first):
                    first += 1
                start = self.starts[first]
            while self.ends[line] - start > MAX_SEGMENT_BYTES:
                cut = self._cut(start)
                yield start, cut, line, line
                start = cut
        if start < self.ends[block.end - 1]:
            yield start, self.ends[block.end - 1], first, block.end - 1

    def _cut(self, start: int) -> int:
        """Where to cut a line too long for one segment: after a space, or between characters."""
        end = start + MAX_SEGMENT_BYTES
        space = self.content.rfind(b" ", start + MAX_SEGMENT_BYTES // 2, end)
        if space != -1:
            return space + 1
        while self.content[end] & 0xC0 == 0x80:
            end -= 1
        return end


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" "))
