"""Plants generated secrets in texts, paths and URLs, whole and in pieces; finds what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.secrets.kinds import KINDS, Kind

PLACES = ("document", "code", "path", "url", "lines", "diff")
SPOKEN = {"Version:", "PRIVATE", "KEY-----", "BLOCK-----"}  # in the frame of a key, not in it
LEAST = 6
WINDOW = 10  # so many characters of a secret, together, are a leak


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret in its surroundings."""

    kind: str
    place: str
    text: str
    secret: str

    def pieces(self) -> list[str]:
        """The secret's own lines, without the frame that announces a key."""
        words = re.split(r"\s+|\\n", self.secret)
        return [
            word
            for word in words
            if len(word) >= LEAST and not word.startswith("-----") and word not in SPOKEN
        ]


def plant(seed: int, rounds: int = 3) -> Iterator[Planted]:
    """Every kind in every place where it can stand, in every one of its contexts, by turns."""
    rng = Random(seed)  # noqa: S311 -- the same corpus for the same seed
    for _ in range(rounds):
        for kind in KINDS:
            for place in PLACES:
                for index in range(len(kind.contexts)):
                    planted = _plant(rng, kind, place, index)
                    if planted is not None:
                        yield planted


def leaks(planted: Planted, text: str) -> list[str]:
    """The pieces of the secret that the text still shows."""
    found = []
    for piece in planted.pieces():
        windows = {piece[at : at + WINDOW] for at in range(max(1, len(piece) - WINDOW + 1))}
        found += sorted(window for window in windows if window in text)
    return found


def _plant(rng: Random, kind: Kind, place: str, index: int) -> Planted | None:
    secret = kind.make(rng)
    context = kind.contexts[index]
    said = context.format(v=secret)
    writer = {
        "document": _in_document, "code": _in_code, "path": _in_path, "url": _in_url,
        "lines": _over_lines, "diff": _in_diff,
    }[place]  # fmt: skip
    text = writer(rng, kind, secret, said, context)
    return None if text is None else Planted(kind.name, place, text, secret)


def _in_document(rng: Random, kind: Kind, secret: str, said: str, context: str) -> str:
    indented = said.replace("\n", "\n    ")
    alone = f"Use {secret} for the demo, then revoke it."
    forms = [
        f"# Deploying\n\nSet it up like this:\n\n```\n{said}\n```\n\nThen restart.\n",
        f"# Deploying\n\nFirst this:\n\n    {indented}\n\nand then restart.\n",
    ]
    if kind.tells and "\n" not in secret:
        forms += [f"# Notes\n\n* {alone}\n", f"# Notes\n\n{alone.replace(secret, f'`{secret}`')}\n"]
    return rng.choice(forms)


def _in_code(rng: Random, kind: Kind, secret: str, said: str, context: str) -> str:
    forms = [f"# settings\nDEBUG = False\n{said}\nPORT = 80\n"]
    if kind.tells and "\n" not in secret:
        forms += [
            f'client = Client("{secret}", timeout=3)\n',
            f"    const x = connect('{secret}');\n",
            f"// {secret}\n",
            f'{{"a": [1, "{secret}"]}}\n',
        ]
    return rng.choice(forms)


def _in_path(rng: Random, kind: Kind, secret: str, said: str, context: str) -> str | None:
    if "/" in secret or "\n" in secret or len(secret) > 200:
        return None
    if kind.in_path:
        return f"dumps/{kind.in_path.format(v=secret)}/notes.md"
    if not kind.tells:
        return None
    return rng.choice([f"keys/{secret}.md", f"{secret}/readme.md", f"old/backup-{secret}.txt"])


def _in_url(rng: Random, kind: Kind, secret: str, said: str, context: str) -> str | None:
    if not re.fullmatch(r"[\w.~+/=:-]{8,400}", secret):
        return None
    if "://" in context:
        return f"see {said} for more"
    name = rng.choice(["api_key", "access_token", "token", "client_secret"])
    if kind.name in {"password", "plain password", "netrc", "connection string"}:
        return f"https://app:{secret}@git.example.org/x.git"
    if kind.tells or kind.name in {"hex secret", "twilio auth token", "datadog key", "heroku key"}:
        return f"GET https://api.example.org/v1/items?page=2&{name}={secret}&sort=asc"
    return None


def _over_lines(rng: Random, kind: Kind, secret: str, said: str, context: str) -> str | None:
    if "\n" in secret:
        quoted = "\n".join(f'    "{line}\\n"' for line in secret.split("\n"))
        return f"KEY = (\n{quoted}\n)\n" if secret.startswith("-----") else None
    cut = rng.randint(len(secret) // 2, len(secret) - max(3, len(secret) // 4))
    first, second = secret[:cut], secret[cut:]
    if '"{v}"' in context or "'{v}'" in context:
        quote = '"' if '"{v}"' in context else "'"
        joint = rng.choice(
            [f"{quote}\n    {quote}", f"{quote} +\n    {quote}", f"{quote} \\\n  {quote}"]
        )
        return said.replace(secret, first + joint + second) + "\n"
    if kind.tells:
        return rng.choice(
            [
                f'x = ("{first}"\n     "{second}")\n',
                f"let x = '{first}' +\n        '{second}';\n",
                f"run --with {first}\\\n{second} --now\n",
                f"Wrapped by a mail program:\n\n{first}\n{second}\n",
                f'x = "{first}" + "{second}"\n',
            ]
        )
    return None


def _in_diff(rng: Random, kind: Kind, secret: str, said: str, context: str) -> str:
    sign = rng.choice("+-")
    body = "\n".join(sign + line for line in said.split("\n"))
    return f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a = 1\n{body}\n b = 2\n"
