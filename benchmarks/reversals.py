"""Are reverts found from contents alone, and are copies of a change told as git tells them?

    python benchmarks/reversals.py REPO [--show N] [--pairs N] [--seed N]

Collects REPO into a throw-away database and asks three things: of commits whose message says "This
reverts commit X" (which the product never reads), how many are linked to X; N reversals that no
message speaks of, for a person to judge; and of N pairs of commits, whether one logical change has
one `git patch-id --stable`. Prints tables and one JSON line.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import throwaway

DECLARED = re.compile(rb"This reverts commit ([0-9a-f]{40}|[0-9a-f]{64})")
SPEAKS = re.compile(rb"revert|undo|back out|roll ?back|restore", re.IGNORECASE)
Link = tuple[str, str]  # commits: the later one, the one it takes back


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--show", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    root, dice = options.repository.resolve(), random.Random(options.seed)
    with throwaway.throwaway_database():
        throwaway.set_up()
        project = throwaway.register(root)
        run, seconds = throwaway.collect(project, "git")
        links = found_links(project.scope_id)
        views = views_of(project.scope_id)
        messages = messages_of(project.scope_id)
    figures = {
        "repository": root.name,
        "commits": run.done,
        "seconds": round(seconds, 1),
        "links": len(links),
        "declared": declared(messages, links),
        "patch_id": patch_ids(root, views, options.pairs, dice),
    }
    silent = sorted(pair for pair in links if not SPEAKS.search(messages[pair[0]]))
    for later, earlier in dice.sample(silent, min(options.show, len(silent))):
        print(later, earlier, *links[later, earlier])
    print(json.dumps(figures))
    return 0


def found_links(scope_id: int) -> dict[Link, tuple[str, float]]:
    """Every pair of commits that the product links, with its strongest level and share."""
    from codememory.models import Reversal  # noqa: PLC0415 -- needs Django

    rows = Reversal.objects.filter(scope_id=scope_id).order_by("share")
    values = rows.values_list("later__commit__oid", "earlier__commit__oid", "level", "share")
    return {(later, earlier): (level, share) for later, earlier, level, share in values}


def messages_of(scope_id: int) -> dict[str, bytes]:
    from codememory.models import GitCommit  # noqa: PLC0415 -- needs Django

    rows = GitCommit.objects.filter(scope_id=scope_id)
    return {oid: bytes(message) for oid, message in rows.values_list("oid", "message")}


def views_of(scope_id: int) -> dict[int, list[str]]:
    """The commits with one parent of each logical change that changes text."""
    from codememory.models import FileChange  # noqa: PLC0415 -- needs Django

    rows = FileChange.objects.filter(
        scope_id=scope_id,
        logical_change__isnull=False,
        commit__parent_oids__len=1,
        content_change__content_class="TEXT",
    )
    views: dict[int, list[str]] = {}
    for change, oid in set(rows.values_list("logical_change_id", "commit__oid")):
        views.setdefault(change, []).append(oid)
    return {change: sorted(oids) for change, oids in sorted(views.items())}


def declared(messages: dict[str, bytes], links: dict[Link, tuple[str, float]]) -> dict[str, object]:
    """Of the reverts that say so, the linked ones; those that are not are listed."""
    said = {
        (oid, match[1].decode())
        for oid, message in messages.items()
        for match in DECLARED.finditer(message)
        if match[1].decode() in messages
    }
    missed = sorted(pair for pair in said if pair not in links)
    return {"said": len(said), "linked": len(said) - len(missed), "missed": missed}


def patch_ids(
    root: Path, views: dict[int, list[str]], count: int, dice: random.Random
) -> dict[str, object]:
    """Half of the pairs are of one logical change, as far as there are; half of two."""
    copies = [oids for oids in views.values() if len(oids) > 1]
    pairs: list[tuple[str, str, bool]] = []
    for oids in dice.sample(copies, min(len(copies), count // 2)):
        one, other = dice.sample(oids, 2)
        pairs.append((one, other, True))
    changes = sorted(views)
    while len(pairs) < count:
        mine, theirs = dice.sample(changes, 2)
        pairs.append((dice.choice(views[mine]), dice.choice(views[theirs]), False))
    ids = {oid: patch_id(root, oid) for oid in {oid for pair in pairs for oid in pair[:2]}}
    told: Counter[str] = Counter()
    differing = []
    for one, other, is_same in pairs:
        agrees = (ids[one] == ids[other]) == is_same
        told[f"{'same' if is_same else 'other'} change, {'agrees' if agrees else 'differs'}"] += 1
        if not agrees:
            differing.append((one, other, is_same))
    return {"changes_with_copies": len(copies), **told, "differing": differing[:40]}


def patch_id(root: Path, oid: str) -> bytes:
    """What `git patch-id --stable` says of a commit; empty for one without text."""
    patch = throwaway.git(root, "diff-tree", "-p", "-M", "--no-ext-diff", "--no-textconv", oid)
    return throwaway.git(root, "patch-id", "--stable", text=patch).split(b" ")[0]


if __name__ == "__main__":
    sys.exit(main())
