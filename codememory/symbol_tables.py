"""The symbols of blobs: each is parsed once, in the killable pool, and kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from collectors.objects import ObjectReader
from collectors.parse_pool import Crashed, Deadline, ParsePool
from collectors.symbol_languages import Language
from collectors.symbol_values import Coverage, SymbolTable
from collectors.symbols import EXTRACTOR_REVISION, extract
from collectors.values import Gap, GapReason

PARSE_SECONDS = 5.0  # of processor time, for one blob
KEPT_BYTES = 96 << 20
SYMBOL_BYTES = 900  # about what one symbol of a kept table takes
TABLE_BYTES = 600
NO_GRAMMAR = extract(b"", None)


class SymbolTables:
    """Tables by (blob, language); one for a batch of blobs at a time. Counts what it did."""

    def __init__(self, reader: ObjectReader, pool: ParsePool, blob_bytes: int) -> None:
        self._reader = reader
        self._pool = pool
        self._blob_bytes = blob_bytes
        self._kept: OrderedDict[tuple[str, str], tuple[SymbolTable, Gap | None]] = OrderedDict()
        self._size = 0
        self.parsed = 0
        self.bytes_parsed = 0
        self.cache_hits = 0

    def prefetch(self, wanted: Iterable[tuple[str, Language]]) -> None:
        """Have Git give the blobs that are not known yet in one exchange."""
        oids = {oid for oid, language in wanted if (oid, language.name) not in self._kept}
        self._reader.prefetch(sorted(oids), limit=self._blob_bytes)

    def table(self, oid: str, language: Language | None) -> tuple[SymbolTable, Gap | None]:
        """The symbols of a blob, and what was not read of it (without its path)."""
        if language is None:
            return NO_GRAMMAR, None
        key = oid, language.name
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            self.cache_hits += 1
            return found
        found = self._read(oid, language)
        self._keep(key, found)
        return found

    def _read(self, oid: str, language: Language) -> tuple[SymbolTable, Gap | None]:
        content = self._reader.read(oid, limit=self._blob_bytes)
        if isinstance(content, Gap):
            return _unread(language, content.reason), content
        self.parsed += 1
        self.bytes_parsed += len(content)
        found = self._pool.submit(
            "collectors.symbols:extract_named", content, PARSE_SECONDS, language.name
        )
        if isinstance(found, Deadline):
            gap = Gap(GapReason.DEADLINE, oid=oid, detail=f"{language.name}, {found.seconds:g} s")
            return _unread(language, GapReason.DEADLINE), gap
        if isinstance(found, Crashed):
            gap = Gap(GapReason.PARSE_ERROR, oid=oid, detail=f"{language.name}, {found.detail}")
            return _unread(language, GapReason.PARSE_ERROR), gap
        assert isinstance(found, SymbolTable)
        # A parse error costs a part of the symbols, which the coverage says; a limit the rest.
        if found.reason is None or found.reason is GapReason.PARSE_ERROR:
            return found, None
        return found, Gap(found.reason, oid=oid, detail=language.name)

    def _keep(self, key: tuple[str, str], found: tuple[SymbolTable, Gap | None]) -> None:
        self._kept[key] = found
        self._size += _size_of(found[0])
        while self._size > KEPT_BYTES and len(self._kept) > 1:
            _, (dropped, _) = self._kept.popitem(last=False)
            self._size -= _size_of(dropped)


def _size_of(table: SymbolTable) -> int:
    return TABLE_BYTES + SYMBOL_BYTES * len(table.symbols)


def _unread(language: Language, reason: GapReason) -> SymbolTable:
    return SymbolTable(
        language.name, language.grammar, "", EXTRACTOR_REVISION, Coverage.TEXTUAL_ONLY, reason
    )
