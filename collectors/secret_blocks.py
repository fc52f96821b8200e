"""Secrets over several lines: key blocks, manifests, wrapped values, tokens cut by a line's end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Flag, auto

from collectors.secret_names import NAME, is_password, looks_random, values_of
from collectors.secret_prose import find_said, goes_on
from collectors.secret_shapes import (
    AZURE,
    BEGINNINGS,
    HASH,
    STARTS,
    TELEGRAM,
    Span,
    find_tokens,
    has_digit,
    is_value,
    occurrences,
)
from collectors.secret_tables import find_in_table, is_headed

_NAMED = NAME + rb"[\w.-]{0,40}"
_KEY_BLOCK = re.compile(
    rb"---- ?-?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?----"
    # To its end; where that is missing, as far as it still looks like a key.
    rb"(?:.{0,65536}?---- ?-?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?"
    rb"|[\s\\\"'rnA-Za-z0-9+/=:,-]{64,16384})",
    re.DOTALL,
)
_KEY_BODY = re.compile(rb"[A-Za-z0-9+/]{16}")
_PUTTY = re.compile(
    rb"Private-Lines: \d{1,3}\r?\n((?:[+-]?[ \t]*[A-Za-z0-9+/=]{4,80}\r?\n?){1,200})"
)
_KIND_SECRET = re.compile(
    rb"^[+-]?[ \t]*[\"']?kind[\"']?:[ \t]*[\"']?Secret[\"']?[ \t]*,?\r?$", re.MULTILINE
)
_DATA = re.compile(
    rb"^(?P<indent>[+-]?[ \t]*)[\"']?(?:data|stringData)[\"']?:[ \t]*\{?[ \t]*\r?\n"
    rb"(?P<body>(?:(?P=indent)[ \t]+[^\n]*(?:\n|\Z)|[+-]?[ \t]*\r?\n)+)",
    re.MULTILINE,
)
_ENTRY = re.compile(
    rb"^[+-]?[ \t]*[\"']?[\w.-]+[\"']?:[ \t]*(?:[|>][+-]?\d?[ \t]*\r?$|[\"']?)", re.MULTILINE
)
_ENTRY_END = re.compile(rb"[\"',\s+-]*\Z")
# A name whose value begins on the next line.
_OPENER = re.compile(
    _NAMED + rb"[\"'\]]{0,2}[ \t]*(?::[ \t]*[\w.|\[\] ]{0,30})?"
    rb"(?:[:=]|=>)[ \t]*(?P<open>\(|\\|[|>][+-]?\d?|\$\(|f?[\"']{3})?[ \t]*\r?\n",
    re.IGNORECASE,
)
_FOLDED = re.compile(
    rb"[ \t]*([A-Za-z0-9+/=_.~!@%^&*-]{8,}"
    rb"(?:\r?\n[ \t]*[A-Za-z0-9+/=_-]{8,}(?=[ \t]*\r?(?:\n|\Z)))*)"
)
_NAME_VALUE = re.compile(
    rb"\bname[\"']?[ \t]*[:=][ \t]*[\"']?[\w.-]{0,60}?" + _NAMED + rb"[\"']?,?[ \t]*\r?\n[ \t{,-]*"
    rb"[\"']?value[\"']?[ \t]*[:=][ \t]*[\"']?([^\s\"'{},]{6,512})",
    re.IGNORECASE,
)
_TERRAFORM = re.compile(
    rb"\bvariable[ \t]+\"[\w-]{0,60}?" + _NAMED + rb"\"[ \t]*\{[^{}]{0,600}?\bdefault[ \t]*=[ \t]*"
    rb"\"([^\"\n]{6,512})\"",
    re.IGNORECASE,
)
_NETRC = re.compile(
    rb"\b(?:machine[ \t\r\n+-]+\S+|default)[ \t\r\n+-]+(?:login[ \t\r\n+-]+\S+[ \t\r\n+-]+)?"
    rb"(?:account[ \t\r\n+-]+\S+[ \t\r\n+-]+)?password[ \t\r\n+-]+([^\s\"',]{3,256})"
)
# What stands between two halves of one string: quotes with a sign, a backslash, or the line's end
# with what begins the next line of a quotation, a comment or a diff.
_JOINT = re.compile(
    rb"\\?[\"'`][ \t]{0,8}(?:[+.&]|\|\||\.\.)?[ \t]{0,8}\\?(?:\r?\n[ \t]{0,80}[+-]?[ \t]{0,80})?"
    rb"(?:[+.&]|\|\||\.\.)?[ \t]{0,8}[bBrRuUfF]{0,2}\\?[\"'`]"
    rb"|\\\r?\n[ \t]{0,80}|=\r?\n|\r?\n[ \t]{0,80}(?:(?:[>#*+-]|//)[ \t]{0,8})?"
)
_RUN = re.compile(rb"[\w+/=.~:$-]{1,2000}")
_IN_RUN = bytes(code if re.match(rb"[\w+/.~:$-]", bytes([code])) else 32 for code in range(256))
_MORE = re.compile(rb"[^\s\"'`\\<>(){}\[\],;]{1,512}(?=\\?[\"'`])")
_WRAPPED = re.compile(
    rb"\r?\n[ \t]*([A-Za-z0-9+/_.$-]{8,}={0,2})(?=[ \t]*[\"']?[ \t]*\r?(?:\n|\Z))"
)
_STRING_JOINT = re.compile(
    rb"\\?[\"'`][ \t]{0,8}(?:[+.&]|\|\||\.\.)?[ \t]{0,8}\\?(?:\r?\n[ \t]{0,80}[+-]?[ \t]{0,80})?"
    rb"(?:[+.&]|\|\||\.\.)?[ \t]{0,8}[bBrRuUfF]{0,2}\\?[\"'`]"
)
_SHELL_JOINT = re.compile(rb"\\\r?\n[ \t]{0,80}")
_MOST_PARTS = 200
_ENDS = frozenset(b":=|>(\\'\"-+\r"[n : n + 1] for n in range(11))
_OTHER_STARTS = frozenset(b"MNO0123456789"[n : n + 1] for n in range(13))
_STRING_END = re.compile(rb"[\w+/=!@%^*~][\"'`][ \t]*(?:[+.&]|\|\||\.\.)?[ \t]*\\?\r?\Z")
_ENDS_NAME = re.compile(_NAMED + rb"[\"']?,?[ \t]*\r?\Z", re.IGNORECASE)


_ENDS_NO_VALUE = frozenset(b"),;{}>]([<\"'"[n : n + 1] for n in range(12))
_ENDS_NO_TOKEN = frozenset(b"),:;{}>]([<")
_SIGNS = frozenset(b" \t\r\\+.&|=")


class Opening(Flag):
    """Kinds of what lines can open; most lines open nothing."""

    KEY = auto()
    MANIFEST = auto()
    BELOW = auto()
    PAIR = auto()
    OTHER = auto()
    TOKEN = auto()
    STRING = auto()
    TABLE = auto()
    SAID = auto()


_MARKS = (
    (b"PRIVATE KEY", Opening.KEY),
    (b"Private-Lines:", Opening.KEY),
    (b"Secret", Opening.MANIFEST),
    (b'variable "', Opening.OTHER),
    (b"machine ", Opening.OTHER),
    (b"Q~", Opening.TOKEN),
    *((mark, Opening.TOKEN) for mark in (b"' + '", b'" + "', b"'+'", b'"+"', b'" . "', b"' . '")),
)


def find_openings(
    text: bytes, lines: Sequence[bytes], named: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, Opening]]:
    """Where in `text`, which is these lines, something begins that further lines complete."""
    for mark, opening in _MARKS:
        for at in occurrences(text, mark):
            yield at, opening
    for start, end in named:
        line = text[start:end]
        if line[-1:] in _ENDS and _OPENER.search(text, start, end + 1):
            yield start, Opening.BELOW
        if _STRING_END.search(line, max(0, len(line) - 40)):
            yield start, Opening.STRING
        if b"name" in line and _ENDS_NAME.search(line):
            yield start, Opening.PAIR
        if is_headed(line):
            yield start, Opening.TABLE
        if line[-1:] not in _ENDS_NO_VALUE and goes_on(line):
            yield start, Opening.SAID
    at = 0
    for line in lines:
        if line and line[-1] not in _ENDS_NO_TOKEN and _may_be_cut(line):
            yield at, Opening.TOKEN
        at += len(line) + 1


def _may_be_cut(line: bytes) -> bool:
    """Whether the line's last word begins as a token does."""
    if line[-1] in _SIGNS:
        line = line[-400:].rstrip(b" \t\r\\+.&|=")
    word = line[line.rfind(b" ") + 1 :]
    if len(word) < 6:
        return False
    word = word[-400:].rstrip(b"\"'`").translate(_IN_RUN).rpartition(b" ")[2]
    for part in (word, word.rpartition(b":")[2]):
        is_start = part[:2] in STARTS or part[:1] in _OTHER_STARTS
        if is_start and BEGINNINGS.match(part):
            return True
    return False


def find_blocks(content: bytes, opened: Iterable[tuple[int, int, Opening]]) -> Iterator[Span]:
    """Secrets over several lines, from lines (start, end) that open something."""
    for start, end, opening in opened:
        if Opening.KEY in opening:
            yield from _find_keys(content, start, end)
        if Opening.MANIFEST in opening and (found := _KIND_SECRET.match(content, start, end)):
            yield from _find_manifest(content, found)
        if Opening.BELOW in opening:
            for name in _OPENER.finditer(content, start, end + 1):
                yield from _find_below(content, name.end(), is_open=name["open"] is not None)
        if Opening.STRING in opening:
            yield from _find_in_string(content, start, end)
        if Opening.PAIR in opening:
            yield from _find_pairs(content, _NAME_VALUE, start, end + 800)
        if Opening.OTHER in opening:
            yield from _find_pairs(content, _TERRAFORM, start, end + 1500)
            yield from _find_pairs(content, _NETRC, start, end + 800)
        if Opening.TABLE in opening:
            yield from find_in_table(content, start, end)
        if Opening.SAID in opening:
            yield from _find_said(content, start, end)
        if Opening.TOKEN in opening:
            yield from _find_cut_tokens(content, start, end)


def _find_pairs(
    content: bytes, expression: re.Pattern[bytes], start: int, end: int
) -> Iterator[Span]:
    for found in expression.finditer(content, start, end):
        is_exact = expression is _NETRC or is_password(found[1], "quoted", is_strict=True)
        if is_exact and is_value(found[1]):
            yield *found.span(1), "password"


def _find_keys(content: bytes, start: int, end: int) -> Iterator[Span]:
    for found in _KEY_BLOCK.finditer(content, start, end + 70_000):
        if found.start() > end:
            break
        if len(_KEY_BODY.findall(found[0])) > 2:
            yield *found.span(), "private_key"
    for putty in _PUTTY.finditer(content, start, end + 20_000):
        yield *putty.span(1), "private_key"


def _find_manifest(content: bytes, kind: re.Match[bytes]) -> Iterator[Span]:
    start = content.rfind(b"\n---", 0, kind.start()) + 1
    end = content.find(b"\n---", kind.end())
    for block in _DATA.finditer(content, start, len(content) if end < 0 else end):
        entries = list(_ENTRY.finditer(content, *block.span("body")))
        ends = [entry.start() for entry in entries[1:]] + [block.end("body")]
        for entry, stop in zip(entries, ends, strict=True):
            trailing = _ENTRY_END.search(content, entry.end(), stop)
            last = trailing.start() if trailing else stop
            if last - entry.end() >= 3 and is_value(content[entry.end() : last].split()[0]):
                yield entry.end(), last, "kubernetes_secret"


def _find_said(content: bytes, start: int, end: int) -> Iterator[Span]:
    """The value of a sentence that a line's end breaks right before it."""
    line_end = content.find(b"\n", end + 1)
    following = content[end + 1 : len(content) if line_end < 0 else line_end]
    for first, last, kind in find_said(content[start:end][-400:], following[:400]):
        yield end + 1 + first, end + 1 + last, kind


def _find_below(content: bytes, start: int, *, is_open: bool) -> Iterator[Span]:
    """The value that begins on the line after its name: a string, or lines of a block."""
    line = content[start : start + 2048].lstrip(b" \t+")
    begin = start + len(content[start : start + 2048]) - len(line)
    if quote := re.match(rb"[bBrRuUfF]{0,2}([\"'])([^\"'\s]{6,512})\1", line):
        if is_value(quote[2]) and has_digit(quote[2]):
            yield begin + quote.start(2), begin + quote.end(2), "secret"
    elif is_open and (found := _FOLDED.match(content, start)):
        value = b"".join(found[1].split())
        if is_value(value) and (looks_random(value) or _is_plain_password(found[1])):
            yield *found.span(1), "secret"


def _is_plain_password(value: bytes) -> bool:
    has_sign = re.search(rb"[!@%^&*~+]", value) is not None
    return has_digit(value) and has_sign and b"\n" not in value and not value.endswith(b":")


def _find_cut_tokens(content: bytes, start: int, end: int) -> Iterator[Span]:
    """Tokens in pieces: put together, they are told as any other."""
    for found in BEGINNINGS.finditer(content, start, end):
        if content[max(0, found.start() - 1) : found.start()].isalnum():
            continue
        joined, places = _joined(content, found.start())
        if len(places) < 2 or _token_end(joined[: places[1][0]]):
            continue
        if size := _token_end(joined):
            offset, at = next(place for place in reversed(places) if place[0] < size)
            yield found.start(), at + size - offset, "token"


def _find_in_string(content: bytes, start: int, end: int) -> Iterator[Span]:
    """A named string that goes on in the next lines, read as the one string that it is."""
    parts: list[bytes] = []
    places: list[tuple[int, int]] = []
    at, size = start, 0
    while len(places) < 12:
        quote = max(content.rfind(mark, max(at, end - 40), end) for mark in (b'"', b"'", b"`"))
        joint = _STRING_JOINT.match(content, quote) if quote >= at else None
        if joint is None or b"\n" not in joint[0]:
            break
        places.append((size, at))
        parts.append(content[at:quote])
        size += len(parts[-1])
        at = joint.end()
        line_end = content.find(b"\n", at)
        end = len(content) if line_end < 0 else line_end
    if not places:
        return
    places.append((size, at))
    parts.append(content[at:end])
    for first, last, kind in values_of(b"".join(parts)):
        there = [next(p for p in reversed(places) if p[0] <= each) for each in (first, last - 1)]
        if there[0] != there[1]:
            (offset, at), (last_offset, last_at) = there
            yield at + first - offset, last_at + last - last_offset, kind


def _token_end(text: bytes) -> int:
    """Where the token ends that the text begins with, 0 without one."""
    if found := TELEGRAM.match(text) or HASH.match(text) or AZURE.match(text):
        return found.end()
    return next((end for start, end, _ in find_tokens(text, 0, len(text)) if start == 0), 0)


def _joined(content: bytes, start: int) -> tuple[bytes, list[tuple[int, int]]]:
    """The text from `start` without its joints; where each piece stands (there, in the content)."""
    parts: list[bytes] = []
    places: list[tuple[int, int]] = []
    at, size = start, 0
    while len(places) < 12 and (run := _RUN.match(content, at)):
        parts.append(run[0])
        places.append((size, at))
        size += len(run[0])
        joint = _JOINT.match(content, run.end())
        if joint is None or size > 4000:
            break
        at = joint.end()
    return b"".join(parts), places


def extend(content: bytes, spans: Iterable[Span]) -> Iterator[Span]:
    """The spans, each with those pieces of its string that further lines hold."""
    for start, end, kind in spans:
        last = end
        for _ in range(_MOST_PARTS):
            more = _next_piece(content, start, last)
            if more is None:
                break
            last = more
        yield start, last, kind


def _next_piece(content: bytes, start: int, end: int) -> int | None:
    """Where the piece ends that goes on with the secret `content[start:end]`."""
    joint = _STRING_JOINT.match(content, end)
    if joint and (more := _MORE.match(content, joint.end())):
        return more.end()
    shell = _SHELL_JOINT.match(content, end)
    if shell and (more := _RUN.match(content, shell.end())):
        return more.end()
    more = _WRAPPED.match(content, end) if end - start >= 24 else None
    return more.end() if more and (has_digit(more[1]) or len(more[1]) >= 32) else None
