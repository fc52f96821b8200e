"""Builds the demo's repository: a shop's refunds in a dozen commits that all say `fx`.

One of the few places that start a process: git, on a new folder of our own.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from codememory.errors import CodeMemoryError

Tree = dict[str, str]
START = 1_767_600_000  # the same commits every time
REFUNDS, LEDGER, ENTRIES = "shop/refunds.py", "shop/ledger.py", "shop/ledger_entries.py"
RETRY, CREDIT, CURRENCY = "shop/retry.py", "shop/store_credit.py", "shop/currency.py"
RULES, PLAN = "docs/refunds.md", "docs/plan.md"

FIRST: Tree = {
    "README.md": "# Shop\n\nTakes payments and gives money back.\n",
    "shop/money.py": '''\
"""Amounts are whole cents."""


def round_up(cents):
    return -int(-cents // 1)


def round_down(cents):
    return int(cents // 1)
''',
    LEDGER: '''\
"""Books every movement of money."""

ENTRIES = []


def book(order, cents):
    ENTRIES.append((order.number, cents))
''',
    REFUNDS: '''\
"""Gives money back for orders."""

import uuid

from shop.ledger import book
from shop.money import round_up


def refund_amount(order, lines):
    """Return how many cents to give back for these lines of an order."""
    total = sum(line.price * line.quantity for line in lines)
    return round_up(total)


def issue_refund(gateway, order, lines):
    """Send the money back and book it."""
    key = uuid.uuid4().hex
    amount = refund_amount(order, lines)
    answer = gateway.refund(order.payment, amount, key=key)
    book(order, -amount)
    return answer
''',
}
RULES_TEXT = """\
# Refunds

What holds for every refund of the shop.

## Rules

- A refund must never exceed the amount that was captured for its order.
- A retried refund must reuse the idempotency key of its first attempt.
- Every refund must be booked in the ledger before the customer is told.

## Rounding

We decided to round refund amounts down to whole cents.
"""
RETRY_TEXT = '''\
"""Tries calls of the payment gateway again."""

import time

ATTEMPTS = 3


def with_retries(call):
    """Call until it succeeds; the waiting time doubles."""
    for attempt in range(ATTEMPTS):
        try:
            return call()
        except TimeoutError:
            time.sleep(2**attempt)
    raise TimeoutError("the gateway did not answer")
'''
CREDIT_TEXT = '''\
"""Gives store credit instead of money."""


def give_credit(customer, cents):
    customer.credit += cents
    customer.notify("store credit", cents)
'''
CURRENCY_TEXT = '''\
"""Converts amounts at the rate of the day of the payment."""


def convert(cents, rate):
    return round(cents * rate)
'''
PLAN_TEXT = """\
# Plan

We plan to let customers choose store credit instead of a refund.
The team is going to try partial refunds across currencies next year.
"""


def build_repository(root: Path) -> int:
    """Make the repository in a folder that does not exist yet; returns its number of commits."""
    git = shutil.which("git")
    if git is None:
        raise CodeMemoryError("git is missing: install git")
    root.mkdir(parents=True)
    commits = list(_history())
    _git(git, root, "init", "-q", "-b", "main", ".")
    _git(git, root, "fast-import", "--quiet", stream=b"".join(_as_stream(commits)))
    _git(git, root, "reset", "-q", "--hard", "main")
    return len(commits)


def _history() -> Iterator[tuple[Tree, list[int]]]:
    """Each commit's whole tree, and its parents by their place in this sequence (from 1)."""
    tree = dict(FIRST)
    yield tree, []
    tree = {**tree, RULES: RULES_TEXT, "deploy/production.env": "GATEWAY_KEY=not-a-real-key\n"}
    yield tree, [1]
    tree = {**tree, RETRY: RETRY_TEXT}
    yield tree, [2]
    tree = {**tree, REFUNDS: _bounded(tree[REFUNDS])}
    yield tree, [3]
    renamed = tree[REFUNDS].replace("shop.ledger", "shop.ledger_entries")
    tree = {**tree, ENTRIES: tree[LEDGER], REFUNDS: renamed}
    del tree[LEDGER]
    yield tree, [4]
    yield {**tree, CREDIT: CREDIT_TEXT, REFUNDS: _as_credit(tree[REFUNDS])}, [5]
    yield tree, [6]  # the store credit is taken back whole
    yield {**tree, CURRENCY: CURRENCY_TEXT}, [7]  # on a side branch
    tree = {**tree, REFUNDS: _retried(tree[REFUNDS])}
    yield tree, [7]
    tree = {**tree, CURRENCY: CURRENCY_TEXT}
    yield tree, [9, 8]
    tree = {**tree, PLAN: PLAN_TEXT}
    yield tree, [10]
    yield {**tree, RETRY: RETRY_TEXT.replace("ATTEMPTS = 3", "ATTEMPTS = 5")}, [11]


def _bounded(code: str) -> str:
    """What a refund is worth: rounded down, and never more than is left of the payment."""
    old = "    return round_up(total)\n"
    new = "    left = order.captured - order.refunded\n    return min(round_down(total), left)\n"
    return code.replace("import round_up", "import round_down").replace(old, new)


def _as_credit(code: str) -> str:
    """Store credit instead of money, for who wants it."""
    booked = "    book(order, -amount)\n"
    asked = "    if order.customer.wants_credit:\n"
    given = "        return give_credit(order.customer, amount)\n"
    code = code.replace("round_down\n", "round_down\nfrom shop.store_credit import give_credit\n")
    return code.replace(booked, asked + given + booked)


def _retried(code: str) -> str:
    """A refund is tried again under the key of its first attempt."""
    steps = {
        "import uuid\n\n": "",
        "import round_down\n": "import round_down\nfrom shop.retry import with_retries\n",
        "uuid.uuid4().hex\n": 'f"refund-{order.number}-{order.refunds_asked}"\n',
        "gateway.refund(order.payment, amount, key=key)\n": (
            "with_retries(lambda: gateway.refund(order.payment, amount, key=key))\n"
        ),
    }
    for old, new in steps.items():
        code = code.replace(old, new)
    return code


def _as_stream(commits: list[tuple[Tree, list[int]]]) -> Iterator[bytes]:
    """The history as `git fast-import` reads it: one process for all commits."""
    for number, (tree, parents) in enumerate(commits, 1):
        who = f"Demo <demo@example.org> {START + number * 86_400} +0000"
        yield f"commit refs/heads/main\nmark :{number}\nauthor {who}\ncommitter {who}\n".encode()
        yield b"data 2\nfx\n"
        for place, parent in enumerate(parents):
            yield f"{'merge' if place else 'from'} :{parent}\n".encode()
        yield b"deleteall\n"
        for path, text in tree.items():
            content = text.encode()
            yield f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"
    yield b"done\n"


def _git(git: str, root: Path, *arguments: str, stream: bytes | None = None) -> None:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(root),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    result = subprocess.run(  # noqa: S603 -- our own words only
        [git, *arguments], cwd=root, env=environment, input=stream, capture_output=True, check=False
    )
    if result.returncode:
        said = result.stderr.decode("utf-8", "replace").strip()[-300:]
        raise CodeMemoryError(f"git {arguments[0]} failed on the demo's repository: {said}")
