"""Measures redaction: what is left of planted secrets, and what is taken for one in real files.

`secrets.py REPO...` reads every text file of the HEAD of each clone that the default policy lets be
read; with `--against` it asks detect-secrets as well, where that is installed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from collectors.paths import read_worktree_file
from collectors.policy import Policy
from collectors.redact import find_secrets, redact, redact_path
from collectors.values import PathClass
from tests.secrets.corpus import PLACES, Planted, leaks, plant
from tests.secrets.kinds import KINDS

KEY = b"k" * 32
SEEDS = (11, 12, 13)
UNREAD = {PathClass.EXCLUDED, PathClass.PROTECTED}
LEAST_RECALL = 0.99


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="*", type=Path)
    parser.add_argument("--against", action="store_true", help="also ask detect-secrets")
    parser.add_argument("--list", action="store_true", help="print each finding without its value")
    given = parser.parse_args()
    corpus = [planted for seed in SEEDS for planted in plant(seed)]
    found = recall(corpus, ours)
    figures: dict[str, object] = {"kinds": len(KINDS), "planted": len(corpus), "recall": found}
    if given.against:
        figures["recall_detect_secrets"] = recall(corpus, theirs())
    figures["repositories"] = [measure(root, is_listed=given.list) for root in given.repositories]
    print(json.dumps(figures))
    return 0 if min(found.values()) >= LEAST_RECALL else 1


def recall(corpus: list[Planted], without: Callable[[Planted], str]) -> dict[str, float]:
    """The share of planted secrets of which nothing is left, by place."""
    planted, left = Counter[str](), Counter[str]()
    for each in corpus:
        planted[each.place] += 1
        left[each.place] += bool(leaks(each, without(each)))
    found = {place: round(1 - left[place] / planted[place], 4) for place in PLACES}
    whole = round(1 - left.total() / planted.total(), 4)
    print(f"recall {whole} of {planted.total()}: {found}")
    return {"all": whole, **found}


def ours(planted: Planted) -> str:
    raw = planted.text.encode()
    if planted.place == "path":
        return redact_path(raw, KEY).decode()
    return redact(raw, find_secrets(raw), KEY)[0].decode()


def theirs() -> Callable[[Planted], str]:
    """What detect-secrets names as the secret is cut out, line by line, with its defaults."""
    scan = importlib.import_module("detect_secrets.core.scan")
    settings = importlib.import_module("detect_secrets.settings")

    def without(planted: Planted) -> str:
        lines = []
        with settings.default_settings():
            for line in planted.text.split("\n"):
                for found in scan.scan_line(line):
                    line = line.replace(found.secret_value or "\0", "***")  # noqa: PLW2901
                lines.append(line)
        return "\n".join(lines)

    return without


def measure(root: Path, *, is_listed: bool) -> dict[str, object]:
    """How many findings a clone's files give, and how fast."""
    lines = size = 0
    kinds = Counter[str]()
    started = time.process_time()
    for path, content in texts(root):
        lines += content.count(b"\n")
        size += len(content)
        for span in find_secrets(content):
            kinds[span.kind] += 1
            if is_listed:
                number = content.count(b"\n", 0, span.start) + 1
                print(f"{root.name}\t{path}:{number}\t{span.kind}\t{span.end - span.start} bytes")
    seconds = time.process_time() - started
    rate = round(kinds.total() * 10_000 / max(1, lines), 2)
    print(f"{root.name}: {kinds.total()} in {lines} lines, {rate} per 10,000; {dict(kinds)}")
    return {
        "name": root.name,
        "lines": lines,
        "findings": kinds.total(),
        "per_10000": rate,
        "megabytes_a_second": round(size / 1e6 / seconds, 1),
    }


def texts(root: Path) -> Iterator[tuple[str, bytes]]:
    policy = Policy(redaction_key=KEY)
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], stdout=subprocess.PIPE, check=True
    ).stdout
    for path in filter(None, listed.split(b"\0")):
        if policy.classify(path)[0] in UNREAD:
            continue
        content = read_worktree_file(root.resolve(), path, policy.max_blob_bytes)
        if isinstance(content, bytes) and b"\0" not in content:
            yield path.decode("utf-8", "backslashreplace"), content


if __name__ == "__main__":
    sys.exit(main())
