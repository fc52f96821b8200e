"""Secrets that are known by the name beside them: `password: ...`, `--token ...`, `ENV KEY ...`.

The name decides how much must speak for the value: a password may be short, a key looks random.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from collectors.secret_prose import find_stated
from collectors.secret_shapes import (
    Span,
    entropy,
    has_digit,
    is_dense,
    is_random,
    is_value,
    occurrences,
)

# What a line with a named secret contains, lower case.
LITERALS = (
    b"pass", b"pwd", b"secret", b"token", b"key", b"credential", b"parola", b"ifre", b"gizli",
    b"contrase", b"kennwort", b"cookie", b"session", b"auth", b"identified by", b"signature",
    b"sig=", b"curl", b"mysql", b"mariadb", b"sshpass", b"anahtar", b"jwt",
    b"\xb0fre",
)  # fmt: skip
_SOFT = (  # a value that is no word is enough
    rb"pass(?=w|phr|code)|(?<![a-z])pass(?=[_.-]|\d|\b)|(?-i:(?<=[a-z])Pass(?=\b|_|[A-Z]))|pwd|secret|parola|(?:\xc5\x9f|s)ifre|\xc5\x9e\xc4\xb0fre"
    rb"|gizli|contrase|kennwort"
)
_HARD = (  # a longer one with letters and digits
    rb"(?<!publickey)token|api[_ .-]?key|access[_-]?key|private[_-]?key|credential"
    rb"|anahtar(?:\xc4\xb1)?"
)
_KEY_OF = (
    rb"encryption|signing|sign|auth|master|shared|storage|account|app(?:lication)?|client|license"
    rb"|server|session|hmac|aes|ssh|fernet|cipher|crypto|deploy|service|webhook|admin|root|consumer"
    rb"|subscription|instrumentation|function|host|secure|preshared|jwt|cookie"
)
_RANDOM = (  # only what looks random
    rb"(?:" + _KEY_OF + rb")[_-]?key|auth|session|cookie|jwt|(?:(?<=[?&])|(?<=amz-))sig(?:nature)?"
)
_NAME = rb"(?:(?P<soft>" + _SOFT + rb")|(?P<hard>" + _HARD + rb")|(?P<random>" + _RANDOM + rb"))"
NAME = rb"(?:" + _SOFT + rb"|" + _HARD + rb"|" + _RANDOM + rb")"
_TAIL = rb"(?P<tail>[\w.-]{0,40})"
_QUOTED = (
    rb"[bBrRuUfF@$]{0,2}(?P<slash>\\{0,2})(?P<q>[\"'`])"
    rb"(?P<quoted>(?:(?!(?P=q))[^\r\n\\]|\\(?![\"'`])[^\r\n]){4,2048})(?P=slash)(?P=q)"
)
_BARE = rb"(?P<bare>[^\s\"'`#,;(){}\[\]<>$&|\\]{6,512})(?=[\s\"',;&<`|)\\]|\Z)"
_ASSIGNED = re.compile(
    _NAME + _TAIL + rb"(?P<close>\\{0,2}[\"'`\]]{0,2}\*{0,2})[ \t]{0,8}"
    rb"(?::[ \t]{0,4}(?:str|bytes|[Ss]tring|SecretStr)(?:[ \t]*\|[ \t]*None)?[ \t]{0,4})?"
    rb"(?P<op>=>|:=|\?=|\|\|=|={1,3}|:{1,2}\*{0,2}|\|(?=[ \t])|,(?=[ \t]*[bur]?[\"']))[ \t]{0,8}"
    rb"(?:" + _QUOTED + rb"|" + _BARE + rb")",
    re.IGNORECASE,
)
_SPACED = re.compile(
    rb"(?:--?[\w-]{0,30}|(?:\b(?:ENV|ARG|export|setx?)[ \t]+(?:-\w+[ \t]+)*)[\w-]{0,40}"
    rb"|\b(?:login|user)[ \t]+\S{1,80}[ \t]+|^[ \t]*|\b(?:with|user|role)[ \t]+(?:\S+[ \t]+){0,3})"
    + _NAME + rb"(?P<tail>[\w-]{0,40})[ \t]+(?:" + _QUOTED + rb"|" + _BARE + rb")",
    re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
_XML = re.compile(
    rb"<(?:\w+:)?[\w.-]{0,40}?" + _NAME + rb"(?P<tail>[\w.-]{0,40})[^<>\n]{0,80}>[ \t]*"
    rb"(?P<bare>[^\s<>]{4,512})[ \t]*</",
    re.IGNORECASE,
)
_KEY_VALUE = re.compile(
    rb"(?:key|name|id)=[\"'][\w.:-]{0,60}?" + _NAME + rb"(?P<tail>[\w.:-]{0,20})[\"'][ \t]+"
    rb"value=[\"'](?P<quoted>[^\"'\n]{4,512})[\"']",
    re.IGNORECASE,
)
_CALL = re.compile(
    rb"(?:set_?|\b|\.)" + _NAME + rb"(?P<tail>(?:w\w{0,6})?)\([ \t]*(?:" + _QUOTED + rb")[ \t]*\)",
    re.IGNORECASE,
)
_SQL = re.compile(
    rb"identified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+'(?P<quoted>[^'\n]{4,256})'", re.IGNORECASE
)
_CURL_USER = re.compile(
    rb"\bcurl\b[^\n]{0,400}?[ \t](?:-u|--user|--proxy-user)[= \t][ \t]*[\"']?[^\s:\"']{0,80}:"
    rb"(?P<bare>[^\s\"']{4,256})",
    re.IGNORECASE,
)
_MYSQL = re.compile(
    rb"\b(?:mysql\w*|mariadb|sshpass)\b[^\n]{0,200}?[ \t]-p[ \t]?[\"']?(?P<bare>[^\s\"']{6,128})"
)
_PAIR = re.compile(
    rb"\b(?:basic_?|http_?|proxy_?)?auth[\"']?[ \t]*[:=,(][ \t]*(?:[\w.]+)?[(\[][ \t]*"
    rb"(?P<user>[\"'])[^\"'\n]{1,80}(?P=user)[ \t]*,[ \t]*(?P<q>[\"'])"
    rb"(?P<quoted>[^\"'\n]{6,256})(?P=q)",
    re.IGNORECASE,
)
_COOKIE = re.compile(
    rb"cookie[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"']?([^\r\n]{8,4000})", re.IGNORECASE
)
_CRUMB = re.compile(rb"(?<![^\s;\"'])([\w.-]{2,60})=([\w%+/=.~:-]{16,2000})")
_LINE_VALUE = re.compile(  # NAME=value to the end of the line, as in .env, ini and yaml files
    rb"^[ \t+-]*(?:(?:export|set|ENV|ARG)[ \t]+)?[\"']?[\w.-]{0,60}?"
    + _NAME
    + rb"(?P<tail>[\w.-]{0,40})"
    rb"[\"']?[ \t]*[:=][ \t]*(?P<line>[^\s\"'`<{(\[][^\s\"'`]{5,255})[ \t]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_BLANK = {b"", b" ", b"\r"}
_LISTED = {b";", b"&", b"?"}  # before a name: a connection string or a query
_CODE = re.compile(
    rb"^[A-Za-z_][\w.]*[(\[]|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[,;)]*$|[({\[]$|\w<|\)[.;,]|=>|->|::"
)
_NOT_A_SECRETS_NAME = re.compile(
    rb"(?:alg\w*|length|len|size|hash(?:er|ing)?|file\w*|path|dir|ur[il]|name|names|id|ids|type\w*|field"
    rb"|min|max|expir\w*|regex|pattern|format|header|arn|ref|version|count|policy|prefix|suffix"
    rb"|provider|class|table|column|label|help|errors?|message|title|text|endpoint|method|ttl|at|age"
    rb"|lifetime|timeout|enabled|required|reset|strength|kind|alias|scopes?|issuer|audience|template"
    rb"|status|list|map|store|manager|service|backend|view|form|input|page|link|icon|index|mode)$",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rb"[A-Za-z_.:/@ -]+|[\w-]*\d[\w-]*\.[a-z]{2,4}|v?\d+(?:[.-]\w+)*|#?[a-f0-9]{3,6}"
)
_WORD_NUMBER = re.compile(rb"(?:[A-Z]?[a-z]+|[A-Z]+)(?:[_-][a-z]+)*[_-]?\d{1,2}")
_DOTTED_WORDS = re.compile(rb"[a-z]+(?:[_.:/@-][a-z0-9]{1,12})*")
_REFERENCE = re.compile(
    rb"^(?:https?:|file:|arn:|vault:|ssm:|npm:|secret:|[./~]{1,3}/|/[a-z]+/|\w+://(?!\S*@))"
    rb"|^[@%]\w+$|^\w+\(|^process\.env|^os\.|^env\."
)
_UUID_OR_HEX = re.compile(
    rb"[a-f0-9]{32,}|[A-F0-9]{32,}|[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}"
)
_KINDS = (
    (b"pass", "password"), (b"pwd", "password"), (b"secret", "secret"), (b"token", "token"),
    (b"api", "api_key"), (b"access", "access_key"), (b"private", "private_key"),
    (b"credential", "credential"), (b"cookie", "cookie"), (b"session", "session"),
)  # fmt: skip


def find_named(text: bytes, lines: Iterable[tuple[int, int]] | None = None) -> Iterator[Span]:
    """Secrets of the text's named lines, each within one line; the same may come twice."""
    for start, end in named_lines(text) if lines is None else lines:
        for first, last, kind in values_of(text[start:end]):
            yield start + first, start + last, kind


def named_lines(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the lines (start, end) lie in which something is called a secret."""
    lower = text.lower()
    starts = {
        text.rfind(b"\n", 0, at) + 1 for literal in LITERALS for at in occurrences(lower, literal)
    }
    for start in sorted(starts):
        end = text.find(b"\n", start)
        yield start, len(text) if end < 0 else end


@lru_cache(5_000)
def values_of(line: bytes) -> tuple[Span, ...]:
    """The secrets of one named line; the same may come twice."""
    return tuple(_values_of(line))


def _values_of(line: bytes) -> Iterator[Span]:
    for expression in (
        _ASSIGNED,
        _SPACED,
        _XML,
        _KEY_VALUE,
        _CALL,
        _LINE_VALUE,
        _SQL,
        _CURL_USER,
        _MYSQL,
        _PAIR,
    ):
        for found in expression.finditer(line):
            groups = found.groupdict()
            group = next(name for name in ("line", "quoted", "bare") if groups.get(name))
            if group == "bare" and _is_listed(line, found):
                group = "listed"
                groups[group] = groups["bare"]
                at = found.span("bare")
            else:
                at = found.span(group)
            if _is_secret(groups, group, expression):
                yield *at, _kind_of(groups)
    for found in _COOKIE.finditer(line):
        for crumb in _CRUMB.finditer(line, *found.span(1)):
            if looks_random(crumb[2]) and is_value(crumb[2]):
                yield *crumb.span(2), "cookie"
    yield from find_stated(line)


def _is_listed(line: bytes, found: re.Match[bytes]) -> bool:
    """Whether it is one of several `name=value`, as in queries and connection strings."""
    before = line[max(0, found.start() - 1) : found.start()]
    if before in _LISTED:
        return True
    after = line[found.end() : found.end() + 1]
    is_alone = before in _BLANK and after in _BLANK and found.start("bare") > 0
    return (
        is_alone
        and line[found.start("bare") - 1 : found.start("bare")] == b"="
        and (line.count(b"=") > 1)
    )


def _kind_of(groups: dict[str, bytes | None]) -> str:
    name = next((groups.get(each) for each in ("soft", "hard", "random") if groups.get(each)), b"")
    lower = (name or b"").lower()
    kind = next((kind for start, kind in _KINDS if lower.startswith(start)), "")
    return kind or ("password" if groups.get("soft") or not name else "secret")


def _is_secret(groups: dict[str, bytes | None], group: str, expression: re.Pattern[bytes]) -> bool:
    value = groups[group] or b""
    if value.startswith((b"sha256:", b"sha512:", b"sha1:")) or not is_value(value):
        return False
    if _REFERENCE.search(value) and not looks_random(value):
        return False
    if _NOT_A_SECRETS_NAME.search(groups.get("tail") or b""):
        return False
    is_exact = expression in {_SQL, _CURL_USER, _MYSQL, _PAIR}
    if is_exact or groups.get("soft"):
        return is_password(value, group, is_strict=_is_loose(groups, expression))
    if groups.get("hard"):
        return _is_key(value, group)
    return looks_random(value)


def _is_loose(groups: dict[str, bytes | None], expression: re.Pattern[bytes]) -> bool:
    """Whether name and value stand together only by their place, so that more must speak for it."""
    return groups.get("op") in {b",", b"|"} or expression in {_SPACED, _CALL}


def is_password(value: bytes, group: str, *, is_strict: bool) -> bool:
    """Whether a value that is named as a password is one, and no word or piece of code."""
    if _UUID_OR_HEX.fullmatch(value):
        return entropy(value) > 2.5
    if _WORDS.fullmatch(value) and not _is_mixed(value):
        return False
    if group == "quoted" and not is_strict:
        return len(value) >= 6
    has_letter = re.search(rb"[A-Za-z]", value) is not None
    if group == "quoted":
        is_spoken = _WORD_NUMBER.fullmatch(value) or _DOTTED_WORDS.fullmatch(value)
        return len(value) >= 6 and has_letter and not is_spoken
    if group == "listed":
        return len(value) >= 6 and ((has_digit(value) and has_letter) or _is_mixed(value))
    if not (has_digit(value) and has_letter) or _CODE.search(value):
        return False
    if group == "line":
        return len(value) >= 6
    is_plain = not re.search(rb"[./\\:]|\w=", value)
    return (is_plain and not _WORD_NUMBER.fullmatch(value)) or looks_random(value)


def _is_key(value: bytes, group: str) -> bool:
    if _UUID_OR_HEX.fullmatch(value):
        return entropy(value) > 2.5
    has_letter = re.search(rb"[A-Za-z]", value) is not None
    if len(value) < 12 or not has_digit(value) or not has_letter or entropy(value) <= 3:
        return False
    if _WORDS.fullmatch(value):
        return False
    if group == "quoted":
        return not _DOTTED_WORDS.fullmatch(value) or looks_random(value)
    return (not re.search(rb"[./\\:]|\w=.", value) and not _CODE.search(value)) or looks_random(
        value
    )


def looks_random(value: bytes) -> bool:
    """Hex or a UUID in full, or letters of both cases with digits and no words."""
    if len(value) < 16 or _CODE.search(value):
        return False
    if _UUID_OR_HEX.fullmatch(value):
        return entropy(value) > 2.8
    if is_random(value, 3.6):
        return True
    return len(value) >= 20 and has_digit(value) and entropy(value) > 3.9 and is_dense(value, 5)


def _is_mixed(value: bytes) -> bool:
    """Letters without a digit, but the case changes too often for words."""
    letters = re.sub(rb"[^A-Za-z]", b"", value)
    changes = len(re.findall(rb"[a-z](?=[A-Z])|[A-Z](?=[a-z])", letters))
    return len(letters) >= 9 and changes > len(letters) / 3.5
