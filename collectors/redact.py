"""Finds secrets in text and cuts them out, before anything is stored, indexed, served or sent.

A rule's expression is tried only where a literal of it, or a long unbroken word, occurs: clean code
costs a few substring searches and nothing more.
"""

from __future__ import annotations

import hmac
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator

from collectors.values import Redaction

RULES_REVISION = 1  # kept with what was redacted; grows with every change of a rule
_KEY_BLOCK = re.compile(
    rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    # To its end; where that is missing, as far as it still looks like a key.
    rb"(?:.{0,16384}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rb"|[\s\\\"'rnA-Za-z0-9+/=:,-]{64,16384})",
    re.DOTALL,
)
_VENDOR_TOKENS = re.compile(
    rb"(?P<aws_key>(?<![A-Z0-9])(?:AKIA|ASIA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Z0-9]))"
    rb"|(?P<github_token>gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})"
    rb"|(?P<gitlab_token>gl(?:pat|dt|rt|cbt|ptt|ft)-[\w-]{20,64})"
    rb"|(?P<slack_token>xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-[A-Za-z0-9-]{20,250})"
    rb"|(?P<stripe_key>[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9]{24,250})"
    rb"|(?P<anthropic_key>sk-ant-[\w-]{20,250})"
    rb"|(?P<openai_key>(?<![\w-])sk-(?:proj-|svcacct-|admin-)?(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,250})"
    rb"|(?P<google_key>AIza[\w-]{35}|GOCSPX-[\w-]{28})"
    rb"|(?P<npm_token>npm_[A-Za-z0-9]{36})"
    rb"|(?P<pypi_token>pypi-AgE[\w-]{50,500})"
    rb"|(?P<huggingface_token>(?<!\w)hf_[A-Za-z0-9]{30,50})"
    rb"|(?P<codememory_token>(?<!\w)cmt_[\w-]{43})"
)
_DOTTED_TOKENS = re.compile(  # these go on after the word, or begin before it
    rb"(?P<jwt>eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}(?:\.[\w-]{0,2000})?)"
    rb"|(?P<google_key>ya29\.[\w-]{20,500})"
    rb"|(?P<sendgrid_key>SG\.[\w-]{22}\.[\w-]{43})"
)
_SLACK_HOOK = re.compile(rb"//hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/+_]{20,120})")
_URL_PASSWORD = re.compile(rb"://[^\s/?#@:\"'<>]{0,64}:([^\s/?#@\"'<>]{2,128})@")
_AUTHORIZATION = re.compile(
    rb"authorization[\"'\]]{0,2}\s{0,4}[:=,]\s{0,4}[bf]?[\"']?"
    rb"(?:bearer|basic|token|apikey)\s{1,4}([A-Za-z0-9+/=._~-]{8,4000})",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(
    rb"[\w.-]{0,40}[\"'\]]{0,2}[ \t]{0,8}(?::[ \t]{0,4}(?:str|bytes|string|String)[ \t]{0,4})?"
    rb"(?:=>|:=|=|:)[ \t]{0,8}"
    rb"(?:[bBrRuU]{0,2}(?:\"([^\"\r\n]{6,256})\"|'([^'\r\n]{6,256})'|`([^`\r\n]{6,256})`)"
    rb"|([^\s\"'`#,;(){}\[\]<>$&|]{8,256})(?=[\s\"',;]|\Z))"
)
_LITERAL = re.compile(rb"[=:][ \t]{0,8}[bBrRuU]{0,2}[\"']([A-Za-z0-9+/_=-]{32,256})[\"']")
# Names that announce a secret, lower case; each with the kind it is reported as.
_NAMES = {
    b"passw": "password",
    b"pwd": "password",
    b"secret": "secret",
    b"token": "token",
    b"api_key": "api_key",
    b"apikey": "api_key",
    b"api-key": "api_key",
    b"access_key": "access_key",
    b"accesskey": "access_key",
    b"private_key": "private_key",
    b"credential": "credential",
}
_PLACEHOLDER = re.compile(
    rb"[<>{}\s]|\$[({\w]|%\(|\.\.\.|\*\*\*|xxx|your|example|placeholder|change.?me|dummy|redacted"
    rb"|^(?:password|passwd|pass|pwd|secret|token|user(?:name)?|none|null|true|false|undefined)$",
    re.IGNORECASE,
)
_HASH_PREFIX = re.compile(rb"sha(?:1|256|384|512)-")
_DIGIT = re.compile(rb"\d")
_NOT_LINE_END = re.compile(rb"[^\r\n]")
_LONG_WORD = b"w" * 20  # no vendor's token is shorter
_WORDS = bytes(
    ord("w") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-") else 32
    for code in range(256)
)
_Span = tuple[int, int, str]


def find_secrets(content: bytes) -> tuple[Redaction, ...]:
    """Spans over the whole content, in order and without overlap."""
    spans = [*_find_by_literal(content), *_find_in_long_words(content), *_find_by_name(content)]
    return tuple(_merge(spans)) if spans else ()


def redact(
    content: bytes,
    spans: tuple[Redaction, ...],
    key: bytes,
    start: int = 0,
    end: int | None = None,
) -> tuple[bytes, tuple[Redaction, ...]]:
    """`content[start:end]` without the spans, and those that touched it (in original offsets).

    The mark of a span carries a keyed digest of the whole secret: equal secrets stay linkable, and
    a cut through a secret shows none of it.
    """
    end = len(content) if end is None else min(end, len(content))
    pieces = []
    touched = []
    for span in spans:
        if span.end <= start or span.start >= end:
            continue
        digest = hmac.new(key, content[span.start : span.end], "sha256").hexdigest()[:8]
        pieces += [content[start : span.start], f"[REDACTED:{span.kind}:{digest}]".encode("ascii")]
        start = span.end
        touched.append(span)
    if not touched:
        return content[start:end], ()
    pieces.append(content[start:end])
    return b"".join(pieces), tuple(touched)


def mask(content: bytes, spans: tuple[Redaction, ...]) -> bytes:
    """The content with every byte of a secret but its line ends covered: all offsets still hold."""
    pieces = []
    at = 0
    for span in spans:
        secret = content[span.start : span.end]
        pieces += [content[at : span.start], _NOT_LINE_END.sub(b"*", secret)]
        at = span.end
    return b"".join([*pieces, content[at:]]) if pieces else content


def _find_by_literal(content: bytes) -> Iterator[_Span]:
    yield from _match_at(content, b"-----BEGIN ", _KEY_BLOCK, "private_key", 0)
    if b"://" in content:
        if b"@" in content:
            yield from _match_at(content, b"://", _URL_PASSWORD, "url_password", 1, _is_value)
        yield from _match_at(content, b"//hooks.slack.com/", _SLACK_HOOK, "slack_webhook", 1)


def _match_at(
    content: bytes,
    literal: bytes,
    expression: re.Pattern[bytes],
    kind: str,
    group: int,
    accept: Callable[[bytes], bool] | None = None,
) -> Iterator[_Span]:
    for at in _occurrences(content, literal):
        found = expression.match(content, at)
        if found and (accept is None or accept(found[group])):
            yield *found.span(group), kind


def _find_in_long_words(content: bytes) -> Iterator[_Span]:
    words = content.translate(_WORDS)
    at = words.find(_LONG_WORD)
    while at >= 0:
        end = words.find(b" ", at)
        end = len(content) if end < 0 else end
        word = content[at:end]
        # Names are in lower case or without digits; no vendor's token is.
        if not word.islower() and _DIGIT.search(word):
            yield from _find_token(content, at, end)
            yield from _find_literal(content, at, end)
        at = words.find(_LONG_WORD, end)


def _find_token(content: bytes, begin: int, end: int) -> Iterator[_Span]:
    for found in _VENDOR_TOKENS.finditer(content, begin, end):
        yield *found.span(), found.lastgroup or ""
    for prefix, start in ((b"eyJ", begin), (b"ya29.", begin - 5), (b"SG.", begin - 3)):
        if start >= 0 and content.startswith(prefix, start):
            found_dotted = _DOTTED_TOKENS.match(content, start)
            if found_dotted:
                yield *found_dotted.span(), found_dotted.lastgroup or ""


def _find_literal(content: bytes, begin: int, end: int) -> Iterator[_Span]:
    line = max(content.rfind(b"\n", 0, begin) + 1, begin - 280)
    for found in _LITERAL.finditer(content, line, min(end + 280, len(content))):
        if found.start(1) < end and found.end(1) > begin and _is_random(found[1]):
            yield *found.span(1), "high_entropy"


def _find_by_name(content: bytes) -> Iterator[_Span]:
    lower = content.lower()
    for at in _occurrences(lower, b"authorization"):
        found = _AUTHORIZATION.match(content, at)
        if found and _is_value(found[1]):
            yield *found.span(1), "authorization"
    for name, kind in _NAMES.items():
        for at in _occurrences(lower, name):
            found = _ASSIGNMENT.match(content, at)
            if found and _is_secret(found, kind):
                yield *found.span(found.lastindex or 0), kind


def _is_secret(found: re.Match[bytes], kind: str) -> bool:
    index = found.lastindex or 0
    value = found[index]
    if not _is_value(value):
        return False
    has_digit = re.search(rb"\d", value) is not None
    has_letter = re.search(rb"[A-Za-z]", value) is not None
    if index == 4:  # bare: as often the name of a variable, a call or a path
        return has_digit and has_letter and not re.search(rb"[./\\]|\w=", value)
    if kind in {"password", "secret"}:
        is_word = re.fullmatch(rb"[A-Za-z]?[a-z]*(?:[_.-][a-z]+)*|[A-Z_]+", value) is not None
        return not is_word
    return len(value) >= 12 and has_digit and has_letter and _entropy(value) > 3


def _is_value(value: bytes) -> bool:
    return _PLACEHOLDER.search(value) is None


def _is_random(value: bytes) -> bool:
    kinds = (rb"[a-z]", rb"[A-Z]", rb"\d")
    return (
        not _HASH_PREFIX.match(value)
        and all(re.search(kind, value) for kind in kinds)
        and _entropy(value) > 4.2
    )


def _entropy(value: bytes) -> float:
    """Bits a byte, by the frequencies in the value itself."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _occurrences(content: bytes, literal: bytes) -> Iterator[int]:
    at = content.find(literal)
    while at >= 0:
        yield at
        at = content.find(literal, at + len(literal))


def _merge(spans: list[_Span]) -> Iterator[Redaction]:
    """Overlapping spans become one, of the kind of the rule that stands first."""
    ranks = {span: rank for rank, span in reversed(list(enumerate(spans)))}
    ordered = sorted(set(spans))
    start, end, kind = ordered[0]
    rank = ranks[ordered[0]]
    for span in ordered[1:]:
        if span[0] >= end:
            yield Redaction(kind, start, end)
            start, end, kind = span
            rank = ranks[span]
            continue
        end = max(end, span[1])
        if ranks[span] < rank:
            rank, kind = ranks[span], span[2]
    yield Redaction(kind, start, end)
