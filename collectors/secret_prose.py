"""Secrets in sentences: `the password is ...`, `parola: ...`, and the shape that speaks for them.

A sentence says many words after `password`, so a value must look like none: how much, depends on
how plainly the sentence says that it is the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from collectors.secret_shapes import Span, entropy, has_digit, is_dense, is_random, is_value

SOFT = (
    rb"pass(?:w(?:or[dt]|d)|phrase|code)|pwd|secret|parola|(?:\xc5\x9f|\xc5\x9e|s)(?:i|\xc4\xb0)fre"
    rb"|kennwort|contrase|credential"
)
HARD = (
    rb"(?<!publickey)token|anahtar"
    rb"|(?:api|access|secret|private|licen[cs]e|signing|encryption|auth|admin)[ _-]?key"
)
_NAME = rb"(?:(?P<soft>" + SOFT + rb")|(?:" + HARD + rb"))[\w\x80-\xff]{0,14}"
_OPEN = rb"[\s\"'`*_(<\[]*(?:\xe2\x80[\x98-\x9f])?"
_USER = rb"(?:[\w.@-]{1,40}[\"'`]?[ \t]*[/:|][ \t]*[\"'`]?)?"
# Right before the value: the name, few words, and what says that the value follows.
_STATED = re.compile(
    _NAME + rb"[\"'`*_)\]]{0,3}(?:'s)?(?:\s+(?:[\w\x80-\xff'@.()`-]+\s+){0,6}?|(?=\s*[^\s\w]))"
    rb"(?:(?<=\s)(?:is|are|was|were|be|to|as|equals|olarak|ise)(?:\s+(?:now|still|currently|set\s+to))?\s"
    rb"|(?:[\w\x80-\xff'@.`-]{1,40}|\([^()]{0,40}\))?\s*(?:[:=]|[-=]>|\xe2\x80[\x93\x94]|\xe2\x86\x92))"
    + _OPEN + _USER + rb"\Z",
    re.IGNORECASE,
)  # fmt: skip
_DIRECT = re.compile(_NAME + rb"[*_]{0,2}\s+" + _OPEN + _USER + rb"\Z", re.IGNORECASE)
# Anywhere before it in the same sentence; only what looks like nothing else is taken.
_LOOSE = re.compile(
    _NAME + rb"(?:[^.!?\n]|[.!?](?=\S)){0,80}?"
    rb"\s(?:is|are|was|were|be|to|as|with|using|use|olarak|yani)\s" + _OPEN + rb"\Z",
    re.IGNORECASE,
)
# After the value: `... is the password`, `... parolam`.
_AFTER = re.compile(
    rb"[\"'`*_)>\]]{0,3}(?:(?:'|\xe2\x80\x99)\w{0,6})?\s+"
    rb"(?:(?P<verb>is|was|as|for|being|remains)\s+(?:[\w'-]+\s+){0,4}?|(?:adl\S+|olan|yeni)\s+)?"
    + _NAME,
    re.IGNORECASE,
)
_WORD = re.compile(
    rb"`([^`\s]{8,200})`|\"([^\"\s]{8,200})\"|'([^'\s]{8,200})'"
    rb"|([^\s\"'`<>(){}\[\]|\xe2]{8,200})"
)
_USER_OF = re.compile(rb"[a-z][\w.@-]{1,30}[/:](?=[^/:])")
_FRAME = re.compile(rb"([*_]{1,2})(.{8,})\1[.,;:]*\Z")
_NO_VALUE = re.compile(
    rb"^[./~]{0,2}/|://|^-|^\$|^[A-Za-z_][\w.-]*=|^[^@\s]+@[\w-]+\.[\w.-]+$|=>|->|::|\\|&&"
    rb"|^v?\d+(?:[.:/_-]\w+)*$|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^[\w-]+\.[a-z]{2,4}$|^#|^&\w+;"
    rb"|^(?:0x|sha\d|md5)|[@:^~<>=]v?\d+\.(?:\d|x)|^[\w.-]+/[\w./-]+@|@[a-f0-9]{7,40}$"
    rb"|^(?:npm|workspace|patch|git|file):"
)
_SPELLED = re.compile(
    rb"(?=[A-Za-z][a-z]{0,2}[aeiouy]|[AEIOU][a-z])(?:[A-Z][a-z]{2,}|[a-z]{3,})"
    rb"|[A-Z]{3,5}(?![A-Za-z])|[_.:/-]"
)
_CASES = re.compile(rb"[a-z][A-Z]|[A-Z][a-z]")
_NO_LETTER = re.compile(rb"[^A-Za-z]+")
_CASE_RUN = re.compile(rb"[A-Z]*[a-z]*")
_SIGN = re.compile(rb"[!#$%^&*+~?=@](?=[\w!#$%^&*+~])")
_CLASSES = tuple(re.compile(each) for each in (rb"[a-z]", rb"[A-Z]", rb"\d"))
_HEX = re.compile(rb"[a-f0-9]{16,}|[A-F0-9]{16,}|[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}")
_MENTION = re.compile(rb"(?:" + SOFT + rb"|" + HARD + rb")", re.IGNORECASE)
_LONGEST_LINE = 8_000
_BEFORE = 140
_AFTER_SIZE = 90


_SAYS = re.compile(
    _NAME + rb"[*_]{0,2}(?:[ \t]+[\w\x80-\xff'@.-]+){0,8}:?[*_]{0,2}[ \t]*\r?\Z", re.IGNORECASE
)


def goes_on(line: bytes) -> bool:
    """Whether the value of a sentence may stand in the next line."""
    return _SAYS.search(line[-_BEFORE:]) is not None


@lru_cache(20_000)
def find_said(line: bytes, following: bytes) -> tuple[Span, ...]:
    """Secrets in the line `following`, which goes on with the sentence of `line`."""
    said = line.rstrip() + b" "
    begin = len(following) - len(following.lstrip(b" \t+>#*/-"))
    shift = begin - len(said)
    return tuple(
        (start + shift, end + shift, kind)
        for start, end, kind in find_stated(said + following[begin:])
        if start >= len(said)
    )


def find_stated(line: bytes) -> Iterator[Span]:
    """Secrets that a sentence of the line tells."""
    if len(line) > _LONGEST_LINE:
        return
    for found in _WORD.finditer(line):
        word = found[0]
        if not has_digit(word) and len(_CASES.findall(word)) < 3:
            continue
        start, end = found.span(found.lastindex or 0)
        start, end = _trimmed(line, start, end)
        value = line[start:end]
        if not may_be_secret(value):
            continue
        kind = _told(line, start, end)
        if kind:
            yield start, end, kind
        elif user := _USER_OF.match(value):
            at = start + user.end()
            if may_be_secret(line[at:end]) and (kind := _told(line, at, end)):
                yield at, end, kind


def _trimmed(line: bytes, start: int, end: int) -> tuple[int, int]:
    """Without the stars of bold text and the marks that end a sentence."""
    if frame := _FRAME.match(line[start:end]):
        return start + frame.start(2), start + frame.end(2)
    if start == 0 and line[:1] in {b"+", b"-"}:  # a line of a diff
        start = 1
    return start, start + len(line[start:end].rstrip(b".,;:"))


def _told(line: bytes, start: int, end: int) -> str:
    """The kind of the secret that the words around tell, or nothing."""
    value = line[start:end]
    before = line[max(0, start - _BEFORE) : start]
    after = line[end : end + _AFTER_SIZE]
    if not _MENTION.search(before):
        return _told_after(value, after)
    if stated := _STATED.search(before) or _DIRECT.search(before):
        if is_secret_of(value, is_soft=stated["soft"] is not None):
            return "password" if stated["soft"] else "token"
        return ""
    if is_strong(value) and _LOOSE.search(before):
        return "password"
    return _told_after(value, after)


def _told_after(value: bytes, after: bytes) -> str:
    said = _AFTER.match(after)
    if said and (is_strong(value) or (said["verb"] and said["soft"] and is_medium(value))):
        return "password" if said["soft"] else "token"
    return ""


def may_be_secret(value: bytes) -> bool:
    """Whether it is worth a look: no path, address, option, version, reference or plain word."""
    if len(value) < 6 or not is_value(value) or _NO_VALUE.search(value):
        return False
    if not has_digit(value):
        return _is_jumbled(value)
    return not value.replace(b".", b"").isdigit() and (b"/" not in value or is_strong(value))


def is_secret_of(value: bytes, *, is_soft: bool) -> bool:
    """Whether it is what a name plainly said it is: a password, or a longer token."""
    if _HEX.fullmatch(value):
        return entropy(value) > 2.5
    if is_strong(value):
        return True
    if is_soft:
        return is_medium(value)
    if len(value) >= 16 and is_random(value, 3.6):
        return _spelled(value) < 0.7 and b"/" not in value
    return (
        len(value) >= 12
        and is_medium(value)
        and entropy(value) > 3
        and _spelled(value) < 0.5
        and is_dense(value, 8)
    )


def is_medium(value: bytes) -> bool:
    """Letters and digits that are not a word or a name with a number."""
    has_letter = any(each.search(value) for each in _CLASSES[:2])
    most = 0.85 if _SIGN.search(value) else 0.75
    return len(value) >= 8 and has_letter and has_digit(value) and _spelled(value) < most


def is_strong(value: bytes) -> bool:
    """What looks like a secret without any name: mixed, and no words in it."""
    if len(value) < 8 or _HEX.fullmatch(value):
        return False
    if not has_digit(value):
        return _is_jumbled(value)
    classes = sum(each.search(value) is not None for each in _CLASSES)
    has_sign = _SIGN.search(value) is not None
    if classes + has_sign < 3:
        return classes == 2 and len(value) >= 12 and is_dense(value, 3)
    if has_sign:
        return _spelled(value) < (0.75 if classes == 3 else 0.5)
    is_mixed = is_dense(value, 8) or _letters_a_run(value) <= 2.5
    if len(value) >= 16:
        return _spelled(value) < (0.5 if is_mixed else 0.4)
    return _spelled(value) < 0.5 and len(value) >= 10 and is_mixed


def may_be_repeated(value: bytes) -> bool:
    """Whether a secret's value cannot be anything else where the same text has it again."""
    if len(value) < 8 or not is_value(value):
        return False
    if _HEX.fullmatch(value):
        return entropy(value) > 2.5
    has_letter = any(each.search(value) for each in _CLASSES[:2])
    return is_strong(value) or (has_digit(value) and has_letter and _spelled(value) < 0.8)


def _spelled(value: bytes) -> float:
    """The share of it that could be words, and what stands between words."""
    return sum(len(each) for each in _SPELLED.findall(value)) / len(value)


def _is_jumbled(value: bytes) -> bool:
    """Letters without a digit whose case changes too often for words."""
    letters = sum(1 for each in value if chr(each).isalpha() and each < 128)
    if letters < 10 or letters < len(value) * 0.7 or not value.isascii():
        return False
    return _letters_a_run(value) <= 2.75


def _letters_a_run(value: bytes) -> float:
    """How many letters a word of it would have, if it were words in camel case."""
    letters = _NO_LETTER.sub(b"", value)
    return len(letters) / max(1, sum(1 for run in _CASE_RUN.findall(letters) if run))
