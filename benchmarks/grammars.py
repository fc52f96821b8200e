"""Which grammars of tree-sitter-languages survive random bytes? `grammars.py [NAME...] [-n N]`.

Each grammar is tried in a process of its own that is killed when one input takes longer than the
deadline. It fails when a grammar that `collectors/languages.toml` enables does not survive.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
import warnings
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tree_sitter_languages import get_language, get_parser

from collectors.symbol_languages import LANGUAGES
from collectors.symbols import extract

DEADLINE = 5.0  # seconds for one input of at most 400 bytes or 80 words
ALL = """
    bash c c_sharp commonlisp cpp css dockerfile dot elisp elixir elm embedded_template erlang
    fixed_form_fortran fortran go gomod hack haskell hcl html java javascript jsdoc json julia
    kotlin lua make markdown objc ocaml perl php python ql r regex rst ruby rust scala sql sqlite
    swift toml tsq tsx typescript yaml
""".split()  # noqa: SIM905  # fifty words read better than fifty strings
PIECES = [
    b"\n",
    b"\n  ",
    b"\t",
    b" x ",
    b" 1 ",
    b'"',
    b"'",
    b"`",
    b"\\",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xc3\xa9",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=ALL)
    parser.add_argument("-n", type=int, default=10_000, dest="inputs")
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    results = {}
    for name in options.names:
        results[name] = outcome = attempt(name, options.inputs, options.seed)
        print(f"{name:20} {outcome}", flush=True)
    print(json.dumps({"inputs": options.inputs, "seed": options.seed, "grammars": results}))
    enabled = {language.grammar for language in LANGUAGES}
    sys.exit(any(name in enabled and text != "survived" for name, text in results.items()))


def attempt(name: str, inputs: int, seed: int) -> str:
    """Run all inputs in a child; say what became of it."""
    done = multiprocessing.Value("i", -1)
    child = multiprocessing.Process(target=feed, args=(name, inputs, seed, done), daemon=True)
    child.start()
    last, since = -1, time.monotonic()
    while child.is_alive():
        child.join(0.2)
        if done.value != last:
            last, since = done.value, time.monotonic()
        elif time.monotonic() - since > DEADLINE:
            child.kill()
            child.join()
            return f"hangs on input {last + 1}"
    if child.exitcode:
        return f"ends with {child.exitcode} on input {last + 1}"
    return "survived"


def feed(name: str, inputs: int, seed: int, done: Synchronized[int]) -> None:
    """Parse every input, and take its symbols where the table enables the grammar."""
    warnings.simplefilter("ignore")
    parser = get_parser(name)
    languages = [one for one in LANGUAGES if one.grammar == name]
    for number, data in enumerate(random_inputs(name, inputs, seed)):
        parser.parse(data)
        for language in languages:
            extract(data, language)
        done.value = number


def random_inputs(name: str, inputs: int, seed: int) -> Iterator[bytes]:
    """A third random bytes, a third printable, a third words of the grammar in any order."""
    chance = random.Random(f"{seed} {name}")
    language = get_language(name)
    kinds = (language.node_kind_for_id(i) for i in range(language.node_kind_count))
    words = [kind.encode() for kind in kinds if kind and not kind.startswith("_")] + PIECES * 3
    for number in range(inputs):
        if number % 3 == 0:
            yield chance.randbytes(chance.randint(1, 400))
        elif number % 3 == 1:
            yield bytes(chance.choices(range(9, 127), k=chance.randint(1, 400)))
        else:
            chosen = chance.choices(words, k=chance.randint(1, 80))
            yield b"".join(word + chance.choice([b"", b" ", b" "]) for word in chosen)


if __name__ == "__main__":
    main()
