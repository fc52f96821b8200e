"""Secrets are found over the whole text and cut out; ordinary text is left alone.

Every secret here is made up, and put together at run time so that no scanner mistakes this file.
"""

from __future__ import annotations

import time

import pytest

from collectors.redact import find_secrets, mask, redact

KEY = b"k" * 32
MIXED = b"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dE4fG6hJ8"
JWT = b".".join([b"eyJ" + b"hbGciOiJIUzI1NiJ9x", b"eyJ" + b"zdWIiOiIxMjM0NTY3", b"sflKxwRJSMeKKF2"])
KEY_BLOCK = (
    b"-----BEGIN RSA " + b"PRIVATE KEY-----\n" + b"MIIEpAIBAAKCAQEA" * 8 + b"\n"
    b"-----END RSA " + b"PRIVATE KEY-----"
)  # fmt: skip

SECRETS = {
    "private_key": (b"key = '''", KEY_BLOCK, b"'''\n"),
    "aws_key": (b"id: ", b"AKIA" + b"QYLPMN5HHHFPZAM2", b"\n"),
    "github_token": (b"use ", b"ghp_" + MIXED[:36], b" now"),
    "gitlab_token": (b"# ", b"glpat-" + MIXED[:20], b"\n"),
    "slack_token": (b"", b"xoxb-" + b"123456789012-123456789012-" + MIXED[:24], b""),
    "slack_webhook": (
        b"https://hooks.slack.com/services/", b"T00000000/B00000000/" + MIXED[:24], b"\n",
    ),
    "stripe_key": (b"pay(", b"sk_live_" + MIXED[:24], b")"),
    "anthropic_key": (b"x ", b"sk-ant-" + b"api03-" + MIXED, b"\n"),
    "openai_key": (b"x ", b"sk-proj-" + MIXED, b"\n"),
    "google_key": (b"?key=", b"AIza" + MIXED[:35], b"&x=1"),
    "npm_token": (b"_auth ", b"npm_" + MIXED[:36], b"\n"),
    "codememory_token": (b"token ", b"cmt_" + (MIXED * 2)[:43], b"\n"),
    "jwt": (b"cookie ", JWT, b"; path=/"),
    "url_password": (b"postgres://alice:", b"s3cr3t-enough", b"@db:5432/x"),
    "authorization": (b"curl -H 'Authorization: Bearer ", b"abc123def456ghi789", b"'"),
    "password": (b"password = \"", b"hunter2!", b"\""),
    "secret": (b"SECRET_KEY = b'", b'_5#y2L"F4Q8z]/', b"'"),
    "token": (b"\"access_token\": \"", b"q8w7e6r5t4y3u2i1o0", b"\","),
    "api_key": (b"export STRANGE_API_KEY=", b"a1b2c3d4e5f6g7h8", b"\n"),
    "high_entropy": (b"blob = '", MIXED, b"'"),
}  # fmt: skip

CLEAN = [
    b"password = form.password.data",
    b"def check_password(password: str) -> bool:",
    b"token = request.args.get('token', default='')",
    b'label = "password"',
    b'PASSWORD_FIELD = "user_password"',
    b"password=<your password>",
    b'password: "${DB_PASSWORD}"',
    b"secret_key = os.environ['SECRET_KEY']",
    b"SECRET_KEY = 'dev'",
    b"git clone https://github.com/pallets/flask",
    b"ssh://git@example.org:22/x",
    b"commit 2ac89889f4cc330eabd50f295dcef02828522c69",
    b"id = '123e4567-e89b-12d3-a456-426614174000'",
    b'"integrity": "sha512-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dE4fG6hJ8aB3dE5gH7=="',
    b"raise InvalidTokenForThisVeryLongClassNameError2()",
    b"-----BEGIN CERTIFICATE-----",
    b"the Authorization header",
    b"the password is required, and the token is optional",
    b"The password must be at least 8-characters long, or 2FA-protected.",
    b"The password is base64-encoded, with PBKDF2-HMAC-SHA256 as the algorithm.",
    b"The token is OAuth2-compatible (RFC6750) and signed with RS256Signer.",
    b"The secret is stored in /etc/app/v1/config.yml or django.conf.settings2.",
    b"Set the password to the value of DB_PASSWORD_2024 in production2.yaml.",
    b'obj = TokenBucket(value="em-d60db3b2343e713a4de3e92d4eb417e4f05f06ab")',
    b"publicKeyToken='6595b64144ccf1df' api_key_id=\"my-api-key-id\"",
    "Şifre en az 8 karakter olmalı; parola 2024-01-01 tarihinde sıfırlandı.".encode(),  # noqa: RUF001
    b"| Token | Description |\n|---|---|\n| `AWS_SECRET_V2` | the token for S3 |",
    b"| Password | Needed |\n|---|---|\n| required | yes, since v2.10.1 |",
    b"token, password, user1\nget, field2, name3",
]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_cut_out_and_nothing_else(kind: str) -> None:
    before, secret, after = SECRETS[kind]
    content = b"line one\n" + before + secret + after + b"\nlast line\n"
    spans = find_secrets(content)
    assert [(span.kind, content[span.start : span.end]) for span in spans] == [(kind, secret)]
    text, _ = redact(content, spans, KEY)
    assert text.startswith(b"line one\n" + before + b"[REDACTED:" + kind.encode() + b":")
    assert text.endswith(b"]" + after + b"\nlast line\n")


@pytest.mark.parametrize("content", CLEAN)
def test_ordinary_text_is_left_alone(content: bytes) -> None:
    assert find_secrets(content) == ()


def test_a_key_without_its_end_is_cut_out_too() -> None:
    cut = KEY_BLOCK[: KEY_BLOCK.index(b"-----END")]
    (span,) = find_secrets(b"x\n" + cut)
    assert span.end == len(cut) + 2


def test_equal_secrets_have_equal_marks_and_another_key_another_mark() -> None:
    content = b"password = 'hunter2!'\npassword = 'hunter2!'\n"
    spans = find_secrets(content)
    one, other = redact(content, spans, KEY)[0].splitlines()
    assert one == other
    assert redact(content, spans, b"other")[0].splitlines()[0] != one


def test_a_cut_through_a_secret_shows_none_of_it() -> None:
    content = b"password = 'hunter2!'"
    spans = find_secrets(content)
    for start in range(len(content)):
        for end in range(start, len(content)):
            text, touched = redact(content, spans, KEY, start, end)
            assert bool(touched) == (start < 20 and end > 12)
            assert not any(content[at : at + 2] in text for at in range(12, 19))


@pytest.mark.parametrize(
    "said",
    [
        "The admin password is {v}.",
        "The password is `{v}`!",
        "The password has been set to\n{v} for now.",
        "Use {v} as the password.",
        "Log in with the credentials admin / {v} please.",
        "Yönetici şifresi {v} olarak belirlendi.",
        "Parola: {v}",
        "Sunucuya {v} parolasıyla bağlanın.",  # noqa: RUF001
        "| user | password |\n|------|----------|\n| root | {v} |",
        "| sunucu | şifre |\n|---|---|\n| a | - |\n| b | {v} |",
        "user,password,role\nbob,{v},admin",
    ],
)
def test_a_sentence_or_a_column_that_tells_a_password_is_cut(said: str) -> None:
    secret = "pUkcm" + "TbKoQfNz6!x"
    before, _, after = said.partition("{v}")
    content = said.format(v=secret).encode()
    text = redact(content, find_secrets(content), KEY)[0].decode()
    assert secret not in text
    assert text.startswith(before + "[REDACTED:password:")
    assert text.endswith("]" + after) or after == "`!"


def test_a_table_ends_where_its_rows_end() -> None:
    table = b"| user | password |\n|---|---|\n| root | none |\n\n| bob | Kx81mmQp2z |\n"
    assert find_secrets(table) == ()


def test_a_secret_is_cut_everywhere_in_the_same_text() -> None:
    content = b"run --as Kx81mmQp2z\n\npassword = 'Kx81mmQp2z'\nhttps://x/Kx81mmQp2z/y\n"
    text, touched = redact(content, find_secrets(content), KEY)
    assert len(touched) == 3
    assert b"Kx81" not in text


def test_a_secret_that_is_a_common_word_is_cut_only_where_it_is_named() -> None:
    content = b"password = 'summer!'\nthe summer! it came\n"
    assert len(find_secrets(content)) == 1


def test_overlapping_rules_make_one_span_of_the_more_exact_kind() -> None:
    content = b"api_key = '" + b"ghp_" + MIXED[:36] + b"'"
    assert [span.kind for span in find_secrets(content)] == ["github_token"]


def test_redacted_text_holds_no_more_secrets() -> None:
    content = b"\n".join(b"".join(parts) for parts in SECRETS.values())
    text, touched = redact(content, find_secrets(content), KEY)
    assert len(touched) == len(SECRETS)
    assert find_secrets(text) == ()


def test_masked_text_keeps_its_length_and_lines() -> None:
    content = b"\r\n".join(b"".join(parts) for parts in SECRETS.values())
    masked = mask(content, find_secrets(content))
    assert len(masked) == len(content)
    assert list(map(len, masked.split(b"\n"))) == list(map(len, content.split(b"\n")))
    assert not any(parts[1] in masked for parts in SECRETS.values())


def test_hostile_text_does_not_stall_it() -> None:
    start = time.process_time()
    for piece in (b"password", b"eyJa.", b"://a:", b"a" * 30 + b"A1.", b"-----BEGIN ", b"'=\"A1"):
        find_secrets(piece * (200_000 // len(piece)))
    for line in (b"token_______ ____ a1B2c3d4e5_ " * 100, b"password" + b", a" * 70 + b"("):
        find_secrets(b"".join(b"%d%s\n" % (n, line) for n in range(100_000 // len(line))))
    find_secrets(b"| password |\n|---|\n| none |\n" * 5_000)
    assert time.process_time() - start < 5
