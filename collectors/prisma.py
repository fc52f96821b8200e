"""Prisma schemas, for which there is no grammar: models, their fields and relations, enums.

Read as Prisma's own parser does: a block is `word Name { ... }`, a field is one line of it, strings
end with their line, and comments are `//` to the end of the line or `/* */`.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from collectors.symbol_tree import MAX_SYMBOLS, Definition, Parsed
from collectors.symbol_values import SymbolKind

_KINDS = {
    b"model": SymbolKind.TABLE,
    b"view": SymbolKind.VIEW,
    b"enum": SymbolKind.ENUM,
    b"type": SymbolKind.STRUCT,
    b"datasource": SymbolKind.SECTION,
    b"generator": SymbolKind.SECTION,
}
_WITH_FIELDS = {SymbolKind.TABLE, SymbolKind.VIEW, SymbolKind.STRUCT}
_TOKEN = re.compile(rb'(//[^\r\n]*|/\*.*?(?:\*/|\Z))|"(?:\\[^\r\n]|[^"\\\r\n])*"?', re.DOTALL)
_BLOCK = re.compile(rb"(?<![\w@.-])(%s)[ \t]+([A-Za-z][\w-]*)\s*\{" % b"|".join(_KINDS))
_ALIAS = re.compile(rb"^[ \t]*(type[ \t]+([A-Za-z]\w*)[ \t]*=)[^\r\n]*", re.MULTILINE)
_FIELD = re.compile(
    rb"^[ \t]*(([A-Za-z][\w-]*)[ \t]+([A-Za-z]\w*)(?:\([^()\r\n]*\))?[?\[\]]*)[^\r\n]*",
    re.MULTILINE,
)


def parse_prisma(data: bytes) -> Parsed:
    """Every definition of a schema; text that belongs to no block counts as a parse error."""
    found = Parsed()
    masked = bytearray(data)
    for token in _TOKEN.finditer(data):
        found.regions.append((*token.span(), token[1] is not None))
        masked[token.start() : token.end()] = re.sub(rb"[^\r\n]", b" ", token[0])
    text = bytes(masked)
    models = {block[2] for block in _BLOCK.finditer(text) if block[1] in {b"model", b"view"}}
    reader = _Reader(data, text, found, models)
    at = 0
    while (block := _BLOCK.search(text, at)) is not None:
        reader.outside(at, block.start())
        end = text.find(b"}", block.end())
        found.has_error |= end == -1
        at = len(text) if end == -1 else end + 1
        reader.block(block, at)
    reader.outside(at, len(text))
    return found


class _Reader:
    """Writes definitions down with their lines."""

    def __init__(self, data: bytes, text: bytes, found: Parsed, models: set[bytes]) -> None:
        self.data, self.text, self.found, self.models = data, text, found, models
        self.line_starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]

    def block(self, block: re.Match[bytes], end: int) -> None:
        kind = _KINDS[block[1]]
        number = self.define(block[2], kind, None, (block.start(), block.end() - 1, end))
        if kind in _WITH_FIELDS:
            for field in _FIELD.finditer(self.text, block.end(), end - 1):
                is_relation = field[3] in self.models
                self.define(
                    field[2],
                    SymbolKind.RELATION if is_relation else SymbolKind.PROPERTY,
                    number,
                    (field.start(1), field.end(1), self._last(field)),
                )

    def outside(self, start: int, end: int) -> None:
        """What stands between blocks: old type aliases, or something that is no Prisma."""
        left = start
        for alias in _ALIAS.finditer(self.text, start, end):
            self.found.has_error |= bool(self.text[left : alias.start()].strip())
            self.define(
                alias[2], SymbolKind.TYPE, None, (alias.start(1), alias.end(1), self._last(alias))
            )
            left = alias.end()
        self.found.has_error |= bool(self.text[left:end].strip())

    def define(
        self, name: bytes, kind: SymbolKind, parent: int | None, places: tuple[int, int, int]
    ) -> int | None:
        """`places` are where it starts, where its body starts, and its end."""
        definitions = self.found.definitions
        if len(definitions) >= MAX_SYMBOLS:
            self.found.is_limited = True
            return None
        start, body, end = places
        outer = "" if parent is None else f"{definitions[parent].name}."
        definitions.append(
            Definition(
                outer + name.decode(),
                name,
                kind,
                parent,
                start,
                start,
                body,
                end,
                bisect_right(self.line_starts, start),
                bisect_right(self.line_starts, end - 1),
                is_partial=False,
            )
        )
        return len(definitions) - 1

    def _last(self, line: re.Match[bytes]) -> int:
        """Where the line's code ends: before the comment and the spaces that end it."""
        end = line.end()
        number = bisect_right(self.found.regions, (end,)) - 1
        while number >= 0 and self.found.regions[number][1] >= line.start():
            start, stop, is_comment = self.found.regions[number]
            if not is_comment or self.text[stop:end].strip():
                break
            end = start
            number -= 1
        return line.start() + len(self.data[line.start() : max(end, line.end(1))].rstrip())
