"""Secrets that are known by their own shape: tokens of vendors, keys, hashes of passwords.

Shapes are as the vendors publish them; `redact.py` decides where in a text they are tried.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

Span = tuple[int, int, str]

# After these no letter or digit goes on, so they may stand anywhere, even inside of a longer word.
_MARKED = re.compile(
    rb"(?P<github_token>gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})"
    rb"|(?P<gitlab_token>gl(?:pat|dt|rt|cbt|ptt|ft|soat|oas|imt|agent|ffct|rtr)-[\w-]{20,300}"
    rb"(?:\.[\w-]{2,4}\.[\w-]{7,12})?|GR1348941[\w-]{20})"
    rb"|(?P<slack_token>xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}|xapp-[A-Za-z0-9-]{20,250})"
    rb"|(?P<stripe_key>[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9+/]{24,250})"
    rb"|(?P<anthropic_key>sk-ant-[\w-]{20,250})"
    rb"|(?P<google_key>AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,500})"
    rb"|(?P<npm_token>npm_[A-Za-z0-9]{36})"
    rb"|(?P<pypi_token>pypi-AgE[\w-]{50,1000})"
    rb"|(?P<age_key>AGE-SECRET-KEY-1[A-Z0-9]{58}|AGE-PLUGIN-[A-Z0-9-]{50,500})"
    rb"|(?P<digitalocean_token>do[opr]_v1_[a-f0-9]{64})"
    rb"|(?P<jwt>eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}(?:\.[\w-]{0,2000})?)"
    rb"|(?P<sentry_token>sntry[su]_[\w+/=-]{40,600})"
    rb"|(?P<heroku_key>HRKU-[\w-]{36,80})"
    rb"|(?P<vendor_token>shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|rubygems_[a-f0-9]{48}"
    rb"|lin_(?:api|oauth)_[A-Za-z0-9]{32,64}|dckr_(?:pat|oat)_[\w-]{27,40}|glsa_[A-Za-z0-9]{32}_\w{8}"
    rb"|glc_[A-Za-z0-9+/=]{32,400}|pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}|tskey-[a-z]+-[\w-]{20,80}"
    rb"|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|NRAK-[A-Z0-9]{27}|CCIPAT_\w{20,80}|ATATT3x[\w=-]{100,300}"
    rb"|ATCTT3x[\w=-]{100,300}|fm\d[ar]?_[\w+/=,]{80,2000}|fo1_[\w-]{43}"
    rb"|duffel_(?:test|live)_[\w=-]{43}|shippo_(?:live|test)_[a-f0-9]{40}|xkeysib-[a-f0-9]{64}-\w{16}"
    rb"|sbp_[a-f0-9]{40}|ntn_[A-Za-z0-9]{40,50}|figd_[\w-]{40,60}|phx_[A-Za-z0-9]{40,60}"
    rb"|dp\.(?:pt|st|ct|sa)\.[\w.-]{40,80}|dt0[cs]01\.[A-Z0-9]{24}\.[A-Z0-9]{64}|sha256~[\w-]{43}"
    rb"|pplx-[A-Za-z0-9]{48}|gsk_[A-Za-z0-9]{48,60}|xai-[A-Za-z0-9]{70,90}|r8_[A-Za-z0-9]{37,40}"
    rb"|sq0(?:atp|csp|idp)-[\w-]{22,60}|access-(?:sandbox|development|production)-[a-f0-9-]{36})"
    rb"|(?P<codememory_token>cmt_[\w-]{43})"
)
# Short marks: only where the rest looks random.
_SHORT = re.compile(
    rb"(?:(?P<aws_key>(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Z0-9]))"
    rb"|(?P<openai_key>sk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[\w-]*\d)(?=[\w-]*[A-Za-z])"
    rb"(?!(?:[a-z]+-)*[a-z]+(?![\w-]))[\w-]{20,250})"
    rb"|(?P<huggingface_token>(?:hf_|api_org_)[A-Za-z0-9]{30,50})"
    rb"|(?P<twilio_key>SK[a-f0-9]{32}(?![a-f0-9]))"
    rb"|(?P<mailgun_key>key-[a-f0-9]{32}(?![a-f0-9]))"
    rb"|(?P<sendgrid_key>SG\.[\w-]{22}\.[\w-]{43})"
    rb"|(?P<vault_token>hv[sbr]\.[\w-]{24,300})"
    rb"|(?P<discord_token>[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40})"
    rb"|(?P<mapbox_token>sk\.eyJ[\w-]{20,400}\.[\w-]{20,60})"
    rb"|(?P<databricks_token>dapi[a-f0-9]{32}(?:-\d)?(?![a-f0-9]))"
    rb"|(?P<airtable_token>pat[A-Za-z0-9]{14}\.[a-f0-9]{64})"
    rb"|(?P<artifactory_token>AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})"
    rb"|(?P<alibaba_key>LTAI[A-Za-z0-9]{20}(?![A-Za-z0-9])))"
)
# The beginnings by which half a token at the end of a line is told.
BEGINNINGS = re.compile(
    rb"(?:gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft)-|xox[abeoprs]-|xapp-"
    rb"|[sr]k_(?:live|test)_|whsec_|sk-|AIza|GOCSPX-|ya29\.|npm_|pypi-AgE|AGE-SECRET-KEY-"
    rb"|do[opr]_v1_|eyJ|sntry[su]_|HRKU-|shp(?:at|ca|pa|ss)_|rubygems_|lin_api_|dckr_pat_|glsa_"
    rb"|pscale_|tskey-|PMAK-|NRAK-|hf_|SG\.|hv[sbr]\.|dapi|AKIA|ASIA|SK[a-f0-9]|key-[a-f0-9]|cmt_"
    rb"|\d{8,10}:A|[MNO][A-Za-z0-9_-]{23}|\$(?:apr1|2[aby]|[156y]|argon2\w{1,2})\$|[\w~.]{3}\dQ~)"
)
# The first two bytes of every token but those that begin with a digit or a dot.
STARTS = frozenset(
    b"gh gi gl GR xo xa sk rk wh AI GO ya np py AG do ey sn HR sh ru li dc ps ts PM NR CC AT fm fo "
    b"du xk sb nt fi ph dp dt pp gs r8 sq ac cm AK AS AB AC A3 hf ap SK ke SG hv da pa LT $a "
    b"$2 $1 $5 $6 $y".split()
)
_PART = re.compile(rb"[A-Za-z0-9]+")
TELEGRAM = re.compile(rb"(?<!\d)\d{8,10}:A[A-Za-z0-9_-]{34}(?![\w-])")
_MAILGUN = re.compile(rb"[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}")
_URL_PASSWORD = re.compile(rb"://([^\s/?#@:\"'<>\[]{0,64}):([^\s/?#@\"'<>\[\]]{2,256})@")
_SENTRY_DSN = re.compile(rb"://([a-f0-9]{32}(?::[a-f0-9]{32})?)@")
_AUTHORIZATION = re.compile(
    rb"authorization[\"'\]]{0,2}\s{0,4}[:=,]\s{0,4}[bf]?[\"']?"
    rb"(?:bearer|basic|token|apikey)[ \t]{1,4}([A-Za-z0-9+/=._~-]{8,4000})",
    re.IGNORECASE,
)
_SPOKEN = re.compile(rb"(?:[a-z]+[_.-]?)+\d{0,3}")
_BEARER = re.compile(rb"(?:bearer|basic)[ \t]{1,4}([a-z0-9+/=._~-]{16,4000})", re.IGNORECASE)
HASH = re.compile(
    rb"\$(?:apr1|2[abxy]?|1|5|6|y|argon2(?:id?|d))\$[\w./$=,+-]{20,400}"
    rb"|pbkdf2(?:_|:)sha\d+[$:]\d+[$:][\w./+=$-]{20,400}"
    rb"|\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{20,200}={0,2}"
)
AZURE = re.compile(rb"[\w~.]{3}\dQ~[\w~.-]{31,34}")
_LITERAL = re.compile(rb"[=:][ \t]{0,8}[bBrRuU]{0,2}[\"']([A-Za-z0-9+/_=-]{32,256})[\"']")
# (literal, how far before it the expression begins, expression, group, kind)
_BY_LITERAL = (
    (
        b"//hooks.slack.com/", 0,
        re.compile(rb"//hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+]{20,120})"),
        1, "slack_webhook",
    ),
    (
        b"/api/webhooks/", 0, re.compile(rb"/api/webhooks/\d{15,22}/([\w-]{40,90})"),
        1, "discord_webhook",
    ),
    (
        b"ENC[AES256_GCM,", 0,
        re.compile(rb"ENC\[AES256_GCM,(data:[\w+/=]{4,8192},iv:[^\]\n]{8,200})\]"),
        1, "sops_value",
    ),
    (b"Q~", 4, AZURE, 0, "azure_secret"),
    *(
        (mark, 0, HASH, 0, "password_hash")
        for mark in (
            b"$2", b"$apr1$", b"$argon2", b"$1$", b"$5$", b"$6$", b"$y$", b"pbkdf2", b"{SHA",
            b"{SSHA",
        )
    ),
)  # fmt: skip
_HEX = re.compile(rb"[a-f0-9]+(?:-[a-f0-9]+)*")
_LONG_WORD = b"w" * 20  # no vendor's token is shorter
_WORDS = bytes(
    ord("w") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-") else 32
    for code in range(256)
)
_BEFORE = 14  # bytes before a long word in which its token may begin


def find_shapes(text: bytes) -> Iterator[Span]:
    """Secrets that lie within one line each; the same may come twice."""
    if b"://" in text and b"@" in text:
        yield from _find_in_urls(text)
    for literal, back, expression, group, kind in _BY_LITERAL:
        for at in occurrences(text, literal):
            if found := expression.match(text, max(0, at - back)):
                yield *found.span(group), kind
    lower = text.lower()
    for at in occurrences(lower, b"authorization"):
        found = _AUTHORIZATION.match(text, at)
        if found and is_value(found[1]) and not _SPOKEN.fullmatch(found[1]):
            yield *found.span(1), "authorization"
    for word in (b"bearer ", b"basic "):
        for at in occurrences(lower, word):
            found = _BEARER.match(text, at)
            if found and is_value(found[1]) and has_digit(found[1]) and entropy(found[1]) > 3:
                yield *found.span(1), "authorization"
    yield from _find_in_long_words(text)


def find_tokens(text: bytes, begin: int, end: int) -> Iterator[Span]:
    """Tokens that begin in `text[begin:end]`, wherever they end."""
    at = begin
    for part in _PART.finditer(text, begin, end):
        start = part.start()
        if start < at:
            continue
        before = text[start - 1 : start]
        if before.isalnum():  # the window cut a word
            continue
        if before == b"\\":  # the n of an escaped line end
            start += 1
        elif before == b"%":
            start += 2
        if text[start : start + 2] not in STARTS and text[start : start + 1] not in b"MNO":
            continue
        found = _MARKED.match(text, start) or _SHORT.match(text, start)
        if found:
            yield *found.span(), found.lastgroup or ""
            at = found.end()


def _find_in_urls(text: bytes) -> Iterator[Span]:
    for at in occurrences(text, b"://"):
        found = _URL_PASSWORD.match(text, at)
        if found and found[1] != found[2] and is_value(found[2]):
            yield *found.span(2), "url_password"
        if found := _SENTRY_DSN.match(text, at):
            yield *found.span(1), "sentry_dsn"


def _find_in_long_words(text: bytes) -> Iterator[Span]:
    words = text.translate(_WORDS)
    at = words.find(_LONG_WORD)
    while at >= 0:
        end = words.find(b" ", at)
        end = len(text) if end < 0 else end
        word = text[at:end]
        if _HEX.fullmatch(word):
            if _MAILGUN.fullmatch(word):
                yield at, end, "mailgun_key"
        elif not word.islower() or has_digit(word):
            yield from find_tokens(text, max(0, at - _BEFORE), end)
            if text[at - 1 : at] == b":" and (found := TELEGRAM.search(text, max(0, at - 12), end)):
                yield *found.span(), "telegram_token"
            yield from _find_literal(text, at, end)
        at = words.find(_LONG_WORD, end)


def _find_literal(text: bytes, begin: int, end: int) -> Iterator[Span]:
    line = max(text.rfind(b"\n", 0, begin) + 1, begin - 280)
    for found in _LITERAL.finditer(text, line, min(end + 280, len(text))):
        is_here = found.start(1) < end and found.end(1) > begin
        if is_here and _is_secret_literal(
            found[1], text[max(line, found.start() - 24) : found.start()]
        ):
            yield *found.span(1), "high_entropy"


def _is_secret_literal(value: bytes, name: bytes) -> bool:
    """Whether a literal that no name announces is random all over, and called nothing harmless."""
    if not is_random(value) or _OTHER_NAME.search(name) or _UUID.search(value):
        return False
    return is_dense(value, 7)


def is_dense(value: bytes, least: int) -> bool:
    """Whether digits stand all over it, as they do not in names with a number at the end."""
    return len(_CHANGES.findall(value)) >= len(value) // least


_CHANGES = re.compile(rb"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_OTHER_NAME = re.compile(  # digests, identifiers, places and contents: random, and no secret
    rb"(?:hash|sha\d*|digest|integrity|checksum|etag|md5|fingerprint|nonce|revision|commit|version|oid"
    rb"|(?<![a-z])[a-z]{0,2}id|_id|Id|data|after|before|cursor|class|name|href|src|path|url|body|content)"
    rb"[\"'\]]{0,2}[ \t]*\Z",
    re.IGNORECASE,
)
_UUID = re.compile(rb"[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}")
_PLACEHOLDER = re.compile(
    rb"\s|^<.*>$|^\[.*\]$|\{\{|\$[({]|^\$\w+$|\{[\w.()\[\]'\"!:]*\}|%\(|^%\w+%$|\.\.\.|\xe2\x80\xa6"
    rb"|\*\*\*|(?i:xxx|your|example|placeholder|change.?me|dummy|redacted|insert|replace"
    rb"|^(?:my|the|some|test|fake|foo|bar|super|new|old|wrong)?[_-]?(?:password|passwd|pass|pwd|secret"
    rb"|token|key|pw|user(?:name)?)[_-]?\d{0,4}$|^(?:foo|bar|baz|abc|admin|root|guest)\d{0,3}$|^(?:none|null|true|false|undefined|nil)$)"
)
_DIGIT = re.compile(rb"\d")
HASH_PREFIX = re.compile(rb"sha(?:1|256|384|512)-")
_CLASSES = tuple(re.compile(each) for each in (rb"[a-z]", rb"[A-Z]", rb"\d"))


def is_value(value: bytes) -> bool:
    """Whether it could be a real value: no placeholder, reference or sentence."""
    return _PLACEHOLDER.search(value) is None


def has_digit(value: bytes) -> bool:
    return _DIGIT.search(value) is not None


def is_random(value: bytes, least: float = 4.2) -> bool:
    """Whether it has letters of both cases, digits, and so many bits a byte."""
    has_all = all(each.search(value) for each in _CLASSES)
    return has_all and not HASH_PREFIX.match(value) and entropy(value) > least


def entropy(value: bytes) -> float:
    """Bits a byte, by the frequencies in the value itself."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def occurrences(content: bytes, literal: bytes) -> Iterator[int]:
    at = content.find(literal)
    while at >= 0:
        yield at
        at = content.find(literal, at + len(literal))
