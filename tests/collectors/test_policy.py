"""What a path alone decides."""

from __future__ import annotations

import time

import pytest

from collectors.policy import Policy
from collectors.values import PathClass

BUILT_IN = Policy(redaction_key=b"k" * 32)


@pytest.mark.parametrize(
    ("path", "expected", "rule"),
    [
        (b"src/app.py", PathClass.NORMAL, ""),
        (b".env", PathClass.PROTECTED, ".env"),
        (b"deploy/.env.production", PathClass.PROTECTED, ".env.*"),
        (b".env.example", PathClass.NORMAL, ""),
        (b"keys/server.PEM", PathClass.PROTECTED, "*.pem"),
        (b".ssh/config", PathClass.PROTECTED, ".ssh/"),
        (b"home/.aws/credentials", PathClass.PROTECTED, "credentials"),
        (b"id_ed25519.pub", PathClass.PROTECTED, "id_ed25519*"),
        (b"id_generator.py", PathClass.NORMAL, ""),
        (b"web/node_modules/x/index.js", PathClass.EXCLUDED, "node_modules/"),
        (b"node_modules.py", PathClass.NORMAL, ""),
        (b"lib/site-packages/x.py", PathClass.EXCLUDED, "site-packages/"),
        (b"pkg.egg-info/PKG-INFO", PathClass.EXCLUDED, "*.egg-info/"),
        (b"node_modules/x/.env", PathClass.PROTECTED, ".env"),
        (b"vendor/x/a.go", PathClass.VENDORED, "vendor/"),
        (b"vendor/x/go.sum", PathClass.VENDORED, "vendor/"),
        (b"poetry.lock", PathClass.LOCKFILE, "*.lock"),
        (b"static/app.min.js", PathClass.GENERATED, "*.min.js"),
        (b"caf\xe9/\xff.py", PathClass.NORMAL, ""),
    ],
)
def test_a_path_has_a_class_and_the_rule_that_gave_it(
    path: bytes, expected: PathClass, rule: str
) -> None:
    assert BUILT_IN.classify(path)[0] is expected
    if path != b"home/.aws/credentials":  # two rules give the same answer
        assert BUILT_IN.classify(path)[1] == rule


def test_a_glob_of_the_user_excludes() -> None:
    policy = Policy(exclude=("docs/**", "*.sql"), redaction_key=b"k")
    assert policy.classify(b"docs/a/b.md") == (PathClass.EXCLUDED, "docs/**")
    assert policy.classify(b"x/y.sql") == (PathClass.EXCLUDED, "*.sql")


def test_a_negated_glob_brings_back_what_a_built_in_rule_leaves_out() -> None:
    policy = Policy(exclude=("!node_modules/ours/",), redaction_key=b"k")
    assert policy.classify(b"node_modules/ours/a.js")[0] is PathClass.NORMAL
    assert policy.classify(b"node_modules/theirs/a.js")[0] is PathClass.EXCLUDED


def test_nothing_brings_back_a_protected_path() -> None:
    policy = Policy(include=("*",), exclude=("!.env", "!**"), redaction_key=b"k")
    assert policy.classify(b".env")[0] is PathClass.PROTECTED


def test_with_includes_everything_else_is_left_out() -> None:
    policy = Policy(include=("src/", "*.md"), redaction_key=b"k")
    assert policy.classify(b"src/a.py")[0] is PathClass.NORMAL
    assert policy.classify(b"tests/a.py") == (PathClass.EXCLUDED, "not included")


def test_every_rule_is_listed_for_the_preview() -> None:
    policy = Policy(include=("src/",), exclude=("*.sql",), redaction_key=b"k")
    rules = {rule.pattern: (rule.name, rule.path_class) for rule in policy.rules()}
    assert rules["node_modules/"] == ("dependencies", PathClass.EXCLUDED)
    assert rules["*.sql"] == ("your exclude", PathClass.EXCLUDED)
    assert rules["src/"] == ("your include", PathClass.NORMAL)


def test_the_key_does_not_show_in_its_repr() -> None:
    assert "redaction_key" not in repr(BUILT_IN)


def test_a_hundred_thousand_paths_take_seconds_at_most() -> None:
    policy = Policy(redaction_key=b"k")
    start = time.process_time()
    for number in range(100_000):
        policy.classify(b"package%d/module/file%d.py" % (number % 3000, number))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "path",
    [b"id_github", b"keys/id_work", b"ID_DEPLOY", b"id_github.bak", b"id_ed25519_sk", b"x/id_rsa"],
)
def test_a_private_key_is_protected_whatever_follows_id(path: bytes) -> None:
    assert BUILT_IN.classify(path)[0] is PathClass.PROTECTED


@pytest.mark.parametrize(
    "path",
    [b"src/id_token.py", b"id_map.rs", b"docs/id_rules.md", b"valid_key", b"id", b"id_x/a.py"],
)
def test_code_whose_name_begins_with_id_is_read(path: bytes) -> None:
    assert BUILT_IN.classify(path)[0] is not PathClass.PROTECTED
