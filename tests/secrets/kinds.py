"""Sixty kinds of secrets, made from a seed: nothing here is or looks like a real one.

A kind says how its values are made and in which words people write them down. Marks are put
together from parts, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import string
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
WORD = ALNUM + "_-"
BASE64 = ALNUM + "+/"
UPPER = string.ascii_uppercase + string.digits
SIGNS = "!@%^*_+~"

Make = Callable[[Random], str]


@dataclass(frozen=True, slots=True)
class Kind:
    """`contexts` hold {v}; the first is the commonest. `tells` of itself: it needs no context."""

    name: str
    make: Make
    contexts: Sequence[str]
    tells: bool = False
    in_path: str | None = None  # a part of a path with {v}


def chars(alphabet: str, size: int) -> Make:
    return lambda rng: "".join(rng.choices(alphabet, k=size))


def marked(mark: str, alphabet: str, size: int) -> Make:
    return lambda rng: mark + "".join(rng.choices(alphabet, k=size))


def joined(*makes: Make | str) -> Make:
    return lambda rng: "".join(each if isinstance(each, str) else each(rng) for each in makes)


def encoded(size: int) -> Make:
    return lambda rng: base64.b64encode(rng.randbytes(size)).decode()


def password(rng: Random) -> str:
    """Twelve characters of all classes, letters first, in any order after that."""
    body = [rng.choice(string.ascii_lowercase), rng.choice(string.digits), rng.choice(SIGNS)]
    body += rng.choices(ALNUM + SIGNS, k=8)
    rng.shuffle(body)
    return rng.choice(string.ascii_letters) + "".join(body)


def plain_password(rng: Random) -> str:
    """Letters and digits alone, as people choose them."""
    word = "".join(rng.choices(string.ascii_lowercase, k=rng.randint(5, 8)))
    return word.capitalize() + str(rng.randint(1000, 9999))


def jwt(rng: Random) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(b'{"sub":"%d","n":"x"}' % rng.randint(10**9, 10**10)).decode()
    return f"{head}.{body.rstrip('=')}.{chars(WORD, 43)(rng)}"


def key_block(label: str, lines: int = 8) -> Make:
    def make(rng: Random) -> str:
        body = "\n".join(chars(BASE64, 64)(rng) for _ in range(lines))
        dashes = "-" * 5
        return f"{dashes}BEGIN {label}{dashes}\n{body}\n{dashes}END {label}{dashes}"

    return make


def pgp_block(rng: Random) -> str:
    body = "\n".join(chars(BASE64, 64)(rng) for _ in range(12))
    label = "PGP PRIVATE " + "KEY BLOCK"
    check = chars(BASE64, 4)(rng)
    return f"-----BEGIN {label}-----\nVersion: x\n\n{body}\n={check}\n-----END {label}-----"


def putty_lines(rng: Random) -> str:
    return "\n".join(chars(BASE64, 64)(rng) for _ in range(6))


def bcrypt_hash(rng: Random) -> str:
    return f"$2{rng.choice('aby')}$12$" + chars(ALNUM + "./", 53)(rng)


def apache_hash(rng: Random) -> str:
    return "$apr1$" + chars(ALNUM + "./", 8)(rng) + "$" + chars(ALNUM + "./", 22)(rng)


def random_uuid(rng: Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def named(*names: str) -> list[str]:
    """The ways in which a setting of these names is written down."""
    first, *_ = names
    return [
        f"{first}={{v}}",
        *(f'{name} = "{{v}}"' for name in names),
        f"{first}: {{v}}",
        f'  "{first}": "{{v}}",',
        f"export {first}='{{v}}'",
    ]


PASSWORDS = [
    'password = "{v}"',
    "password: {v}",
    '"password": "{v}",',
    "PASSWORD={v}",
    "export DB_PASSWORD={v}",
    "ENV DB_PASSWORD {v}",
    "--password {v}",
    "--db-password={v}",
    "passwd = '{v}'",
    "pwd: '{v}'",
    "$config['password'] = '{v}';",
    ":password => '{v}',",
    "password := `{v}`",
    "<password>{v}</password>",
    '<add key="DbPassword" value="{v}" />',
    "**Password:** {v}",
    "password: `{v}`",
    'parola = "{v}"',
    "şifre: {v}",
    "sifre='{v}'",
    "DB_SIFRE={v}",
    'gizli_anahtar = "{v}"',
    "spring.datasource.password={v}",
    "PGPASSWORD={v} psql -h db",
    'user.setPassword("{v}");',
    "CREATE USER app IDENTIFIED BY '{v}';",
    "ALTER ROLE app WITH PASSWORD '{v}';",
    "mysql -u root -p{v} shop",
    "curl -u admin:{v} https://example.org/x",
    'auth=("admin", "{v}")',
    '{{\\"password\\": \\"{v}\\"}}',
    'password: str = "{v}"',
    'os.environ["DB_PASSWORD"] = "{v}"',
    "| password | {v} |",
]
CONNECTIONS = [
    "postgres://app:{v}@db.example.org:5432/shop",
    "amqp://guest:{v}@queue:5672//",
    "mongodb+srv://app:{v}@cluster0.example.net/test",
    "redis://:{v}@cache:6379/0",
    "Server=db;Database=shop;User Id=sa;Password={v};Encrypt=true",
    "jdbc:postgresql://db/shop?user=app&password={v}",
    "host=db user=app password={v} dbname=shop",
]
SENTENCES = [
    "The admin password is {v}.",
    "The admin password is `{v}` and must be changed.",
    "Password for the staging database: {v}",
    "Log in as admin, the password has been set to {v}, then go on.",
    "Use {v} as the root password.",
    "{v} is the password of the deploy user.",
    "Credentials: admin / {v}",
    "The root password on this box was **{v}** until May.",
    "The password of the backup account is\n{v} since last week.",
    "Yönetici şifresi {v} olarak belirlendi.",
    "Veritabanı parolası: {v}",  # noqa: RUF001
    "Sunucunun parolası {v}'dir.",  # noqa: RUF001
    "Şifre {v}, kimseyle paylaşmayın.",  # noqa: RUF001
    "Giriş için parola olarak {v} kullanın.",  # noqa: RUF001
    "# the password is {v}",
    "// parola: {v}",
]
TOKEN_SENTENCES = [
    "The token is {v}.",
    "The API key is `{v}`, it never expires.",
    "Our access token was changed to {v} yesterday.",
    "API anahtarı {v} olarak tanımlı.",  # noqa: RUF001
]
COLUMNS = [
    "| user | password |\n|------|----------|\n| root | {v} |\n| guest | none |",
    "| Host | User | Root password |\n|:--|:--|--:|\n| a | b | |\n| db1 | app | `{v}` |",
    "user | password\n--- | ---\nroot | {v}",
    "| Sunucu | Şifre | Not |\n| --- | --- | --- |\n| db1 | **{v}** | eski |",
    "+------+----------+\n| user | password |\n+======+==========+\n| root | {v} |\n+------+---+",
    "user,password,role\nann,,guest\nroot,{v},admin",
    "name;parola;rol\nroot;{v};admin",
    "user\tpassword\nroot\t{v}",
]
REPEATED = [
    'password = "{v}"\n\nconnect with {v} then',
    "<password>{v}</password>\n<!-- was {v} -->",
    "echo {v} | login\nexport DB_PASSWORD='{v}'",
]

KINDS = [
    Kind(
        "aws access key id",
        marked("AKI" + "A", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        named("aws_access_key_id"),
        tells=True,
    ),
    Kind("aws secret key", chars(BASE64, 40), named("aws_secret_access_key", "secretAccessKey")),
    Kind("gcp api key", marked("AI" + "za", WORD, 35), named("GOOGLE_MAPS_KEY"), tells=True),
    Kind("gcp oauth", joined("ya" + "29.", chars(WORD, 60)), ["access {v}"], tells=True),
    Kind(
        "gcp service account",
        lambda r: key_block("PRIVATE " + "KEY", 6)(r).replace("\n", "\\n"),
        ['"private_key": "{v}\\n",'],
    ),
    Kind(
        "azure storage key",
        encoded(64),
        [
            "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={v};EndpointSuffix=x",
            'AZURE_STORAGE_KEY="{v}"',
            "storage_account_key: {v}",
        ],
    ),
    Kind(
        "azure client secret",
        joined(chars(ALNUM, 3), "8Q~", chars(ALNUM + "_.-", 34)),
        named("AZURE_CLIENT_SECRET"),
        tells=True,
    ),
    Kind("github token", marked("gh" + "p_", ALNUM, 36), named("GITHUB_TOKEN"), tells=True),
    Kind(
        "github fine-grained",
        joined("github" + "_pat_", chars(ALNUM, 22), "_", chars(ALNUM, 59)),
        named("GH_TOKEN"),
        tells=True,
    ),
    Kind("gitlab token", marked("gl" + "pat-", WORD, 20), named("GITLAB_TOKEN"), tells=True),
    Kind(
        "slack token",
        joined(
            "xo" + "xb-", chars("123456789", 12), "-", chars("123456789", 12), "-", chars(ALNUM, 24)
        ),
        named("SLACK_TOKEN"),
        tells=True,
    ),
    Kind(
        "slack webhook",
        joined("T", chars(UPPER, 8), "/B", chars(UPPER, 10), "/", chars(ALNUM, 24)),
        ["https://hooks.slack.com/services/{v}"],
    ),
    Kind("stripe key", marked("sk" + "_live_", ALNUM, 24), named("STRIPE_KEY"), tells=True),
    Kind("stripe webhook", marked("wh" + "sec_", ALNUM, 32), named("WEBHOOK"), tells=True),
    Kind(
        "npm token",
        marked("np" + "m_", ALNUM, 36),
        ["//registry.example.org/:_authToken={v}", "token {v}"],
        tells=True,
    ),
    Kind(
        "npm legacy auth",
        encoded(24),
        ["//registry.example.org/:_auth={v}", '//registry.example.org/:_password="{v}"'],
    ),
    Kind(
        "pypi token",
        marked("py" + "pi-AgE", WORD, 150),
        ["password = {v}", "upload with {v}"],
        tells=True,
    ),
    Kind("rsa private key", key_block("RSA PRIVATE " + "KEY"), ["{v}", 'KEY = """{v}"""']),
    Kind("ec private key", key_block("EC PRIVATE " + "KEY", 3), ["{v}"]),
    Kind("openssh private key", key_block("OPENSSH PRIVATE " + "KEY", 6), ["{v}"]),
    Kind("encrypted private key", key_block("ENCRYPTED PRIVATE " + "KEY", 6), ["{v}"]),
    Kind("pgp private key", pgp_block, ["{v}"]),
    Kind(
        "putty private key",
        putty_lines,
        ["PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 6\n{v}\nPrivate-MAC: x"],
    ),
    Kind(
        "age key",
        marked("AGE-SECRET-" + "KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
        ["{v}"],
        tells=True,
    ),
    Kind(
        "sops value",
        joined("data:", encoded(20), ",iv:", encoded(16), ",tag:", encoded(12)),
        ["password: ENC[AES256_GCM,{v},type:str]", "note: ENC[AES256_GCM,{v},type:str]"],
    ),
    Kind("json web token", jwt, ["Authorization: Bearer {v}", "jwt={v}", 'id "{v}"'], tells=True),
    Kind("password", password, PASSWORDS, in_path="password={v}"),
    Kind(
        "plain password",
        plain_password,
        [each for each in PASSWORDS if "|" not in each],
        in_path="DB_PASSWORD={v}",
    ),
    Kind("connection string", chars(ALNUM + "_.~", 14), CONNECTIONS),
    Kind(
        "netrc",
        password,
        [
            "machine api.example.org login bot password {v}",
            "machine api.example.org\n  login bot\n  password {v}\n",
        ],
    ),
    Kind("htpasswd", apache_hash, ["admin:{v}"], tells=True),
    Kind(
        "password hash", bcrypt_hash, ["INSERT INTO u VALUES ('a', '{v}');", "hash {v}"], tells=True
    ),
    Kind(
        "hex secret", chars(HEX, 64), named("SECRET_KEY_BASE", "session_secret", "encryption_key")
    ),
    Kind("base64 secret", encoded(32), named("SIGNING_SECRET", "hmac_key", "COOKIE_SECRET")),
    Kind(
        "cookie",
        chars(HEX, 32),
        [
            "Cookie: theme=dark; sessionid={v}; lang=en",
            "Set-Cookie: session={v}; Path=/; HttpOnly",
            "curl -H 'Cookie: sid={v}' https://example.org",
        ],
    ),
    Kind(
        "authorization header",
        encoded(24),
        [
            "Authorization: Basic {v}",
            "-H 'Authorization: Token {v}'",
            '"Authorization": "Bearer {v}"',
            "headers['authorization'] = 'Bearer {v}'",
        ],
    ),
    Kind(
        "api key header",
        chars(HEX, 32),
        [
            "X-Api-Key: {v}",
            "'X-Auth-Token': '{v}'",
            "Private-Token: {v}",
            "Ocp-Apim-Subscription-Key: {v}",
        ],
    ),
    Kind("twilio", marked("S" + "K", HEX, 32), named("TWILIO_SID"), tells=True),
    Kind("twilio auth token", chars(HEX, 32), named("TWILIO_AUTH_TOKEN")),
    Kind(
        "sendgrid",
        joined("S" + "G.", chars(WORD, 22), ".", chars(WORD, 43)),
        named("SENDGRID"),
        tells=True,
    ),
    Kind("mailgun", marked("ke" + "y-", HEX, 32), named("MAILGUN"), tells=True),
    Kind(
        "discord token",
        joined("M", chars(ALNUM, 25), ".", chars(ALNUM, 6), ".", chars(WORD, 38)),
        named("DISCORD"),
        tells=True,
    ),
    Kind(
        "discord webhook",
        joined(chars(WORD, 68)),
        ["https://discord.com/api/webhooks/123456789012345678/{v}"],
    ),
    Kind(
        "telegram token",
        joined(chars("123456789", 10), ":" + "A", chars(WORD, 34)),
        named("TELEGRAM"),
        tells=True,
    ),
    Kind("openai key", marked("sk" + "-proj-", WORD, 48), named("OPENAI"), tells=True),
    Kind("anthropic key", marked("sk" + "-ant-api03-", WORD, 93), named("ANTHROPIC"), tells=True),
    Kind("huggingface token", marked("h" + "f_", ALNUM, 34), named("HF"), tells=True),
    Kind("digitalocean token", marked("do" + "p_v1_", HEX, 64), named("DO"), tells=True),
    Kind("heroku key", random_uuid, named("HEROKU_API_KEY")),
    Kind("datadog key", chars(HEX, 32), named("DD_API_KEY", "datadog_api_key")),
    Kind("sentry dsn", chars(HEX, 32), ["SENTRY_DSN=https://{v}@o12345.ingest.sentry.io/678901"]),
    Kind(
        "kubernetes secret",
        encoded(24),
        [
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  whatever: {v}\n",
            "apiVersion: v1\ndata:\n  one: {v}\nkind: Secret\n",
        ],
    ),
    Kind(
        "terraform variable",
        plain_password,
        [
            'variable "db_password" {{\n  type    = string\n  default = "{v}"\n}}',
            'db_password = "{v}"',
            'master_password = "{v}"',
        ],
    ),
    Kind("vault token", joined("hv" + "s.", chars(WORD, 95)), named("VAULT"), tells=True),
    Kind("shopify token", marked("sh" + "pat_", HEX, 32), named("SHOP"), tells=True),
    Kind("password in a sentence", password, SENTENCES),
    Kind("plain password in a sentence", plain_password, SENTENCES[:4] + SENTENCES[9:14]),
    Kind("token in a sentence", chars(ALNUM, 24), TOKEN_SENTENCES),
    Kind("password in a column", password, COLUMNS),
    Kind("password said again", password, REPEATED),
]
