"""Are symbols what Python's `ast` and universal-ctags say? `symbols.py [--changes REPO] [REPO...]`.

`--changes` takes random changes of Python files of a repository and compares names, lines, what
came and what went on both sides with `ast`. Other repositories give files of every language, whose
functions, classes and methods are compared with those of `ctags`. It fails when `ast` disagrees.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import shutil
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from collectors.symbol_changes import compare
from collectors.symbol_languages import LANGUAGES, Language, language_of
from collectors.symbol_values import Coverage, Symbol, SymbolTable
from collectors.symbols import extract

KINDS = {
    *("function", "func", "method", "class", "subroutine", "procedure", "generator", "getter"),
    *("setter", "singletonMethod", "macro", "interface", "implementation", "protocol", "program"),
    *("object", "trait", "predicate"),
}
# What ctags calls a macro, an interface ... is asked for only where it defines one.
NOT_ASKED = {
    "C": {"macro"},
    "C++": {"macro"},
    "ObjectiveC": {"macro"},
    "Rust": {"implementation"},  # an impl block gives its name to its methods
    "Make": {"macro"},  # variables
    "Fortran": {"interface"},
    "Erlang": {"macro"},
}
Place = tuple[str, str, int, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repos", nargs="*", type=Path)
    parser.add_argument("--changes", type=Path, action="append", default=[])
    parser.add_argument("-n", type=int, default=50, help="changes, of each repository")
    parser.add_argument("--files", type=int, default=20, help="files of each language")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--only", help="this language only, with what ctags has and we do not")
    options = parser.parse_args()
    failed = False
    for repo in options.changes:
        failed |= compare_changes(repo, options.n, options.seed)
    if options.repos:
        compare_with_ctags(options)
    sys.exit(failed)


# --- Python's ast --------------------------------------------------------------------------------


@dataclass
class Agreement:
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def compare_changes(repo: Path, number: int, seed: int) -> bool:
    found = Agreement()
    for name, old, new in python_changes(repo, number, seed):
        sides = [(text, parsed(text)) for text in (old, new)]
        if any(tree is None for _, tree in sides):
            found.counts["not parsed by ast"] += 1
            continue
        found.counts["changes"] += 1
        tables = [extract(text, language_of(b"a.py")) for text, _ in sides]
        for (_, tree), table in zip(sides, tables, strict=True):
            compare_side(name, tree, table, found)
        compare_names(name, sides, tables, found)
    print(f"\n{repo.name if repo.name != 'repo' else repo.parent.name}, Python's ast")
    for what, count in sorted(found.counts.items()):
        print(f"  {what:36} {count:7}")
    print("\n".join(f"  DIFFERENT {line}" for line in found.wrong[:40]))
    print(json.dumps({"ast": {**found.counts, "different": len(found.wrong)}}))
    return bool(found.wrong)


def python_changes(repo: Path, number: int, seed: int) -> Iterator[tuple[str, bytes, bytes]]:
    """Random modifications of Python files, from all that HEAD reaches."""
    raw = git(repo, "log", "--raw", "--no-abbrev", "--no-renames", "--format=%x00%H", "HEAD", "--")
    rows = []
    for commit in raw.split(b"\0")[1:]:
        head, *lines = commit.decode("utf-8", "replace").splitlines()
        for line in lines:
            if line.startswith(":") and line.endswith(".py") and "\tM" not in line:
                _, _, old, new, rest = line.split(" ", 4)
                if rest.startswith("M\t"):
                    rows.append((f"{head[:12]} {rest[2:]}", old, new))
    chosen = random.Random(seed).sample(rows, min(number, len(rows)))
    for name, old, new in chosen:
        yield name, git(repo, "cat-file", "blob", old), git(repo, "cat-file", "blob", new)


def parsed(text: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            return None


def compare_side(name: str, tree: ast.Module | None, table: SymbolTable, found: Agreement) -> None:
    assert tree is not None
    theirs = sorted(place for place, _ in definitions(tree))
    ours = sorted(place_of(one) for one in table.symbols)
    found.counts["symbols"] += len(theirs)
    if table.coverage is not Coverage.FULL:
        found.counts["sides that are PARTIAL"] += 1
    for side, places, others in (("ast", theirs, ours), ("ours", ours, theirs)):
        left = Counter(places) - Counter(others)
        found.wrong += [f"{name}: only {side} has {place}" for place in left.elements()]


def place_of(one: Symbol) -> Place:
    kind = "class" if one.kind == "CLASS" else "function"
    return one.name, kind, one.first_line, one.last_line


def definitions(tree: ast.Module) -> Iterator[tuple[Place, ast.AST]]:
    """Every definition: a decorator's line is its first one."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, prefix = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}.{child.name}" if prefix else child.name
                kind = "class" if isinstance(child, ast.ClassDef) else "function"
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield (name, kind, first, child.end_lineno or 0), child
            waiting.append((child, name))


def compare_names(
    name: str,
    sides: list[tuple[bytes, ast.Module | None]],
    tables: list[SymbolTable],
    found: Agreement,
) -> None:
    """What came, what went and whose body changed, by ast and by ours."""
    old, new = (bodies(tree) for _, tree in sides if tree is not None)
    changes = compare(*tables)
    came = {one.after.name for one in changes if one.kind in {"ADDED", "RENAMED"} and one.after}
    went = {one.before.name for one in changes if one.kind in {"REMOVED", "RENAMED"} and one.before}
    found.counts.update(f"told {one.kind}" for one in changes)
    for said, theirs in (("came", set(new) - set(old)), ("went", set(old) - set(new))):
        ours = came if said == "came" else went
        twice = {key for side in (old, new) for key, values in side.items() if len(values) > 1}
        found.wrong += [f"{name}: {said} {one}" for one in (ours ^ theirs) - twice]
    ours_old, ours_new = (by_name(table) for table in tables)
    for key in set(old) & set(new):
        if len(old[key]) == len(new[key]) == 1 == len(ours_old[key]) == len(ours_new[key]):
            is_same = old[key] == new[key]
            is_same_here = ours_old[key][0].body_hash == ours_new[key][0].body_hash
            found.counts[f"bodies {'equal' if is_same else 'different'} by ast"] += 1
            if is_same != is_same_here:  # quotes, parentheses, trailing commas
                found.counts["bodies that ours tells apart only" if is_same else "MISSED"] += 1
                if not is_same:
                    found.wrong.append(f"{name}: ast tells the bodies of {key} apart")


def bodies(tree: ast.Module) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for place, node in definitions(tree):
        body = getattr(node, "body", [])
        found[place[0]].append("\n".join(ast.dump(one) for one in body))
    return found


def by_name(table: SymbolTable) -> dict[str, list[Symbol]]:
    found: dict[str, list[Symbol]] = defaultdict(list)
    for one in table.symbols:
        found[one.name].append(one)
    return found


# --- ctags ---------------------------------------------------------------------------------------


def compare_with_ctags(options: argparse.Namespace) -> None:
    ctags = shutil.which("ctags")
    known = ctags_languages(ctags) if ctags else {}
    rows = {}
    print(f"\n{'language':20}{'files':>6}{'repos':>6}{'tags':>7}{'found':>7}{'recall':>8}", end="")
    print(f"{'ours':>7}{'partial':>8}{'MB/s':>7}")
    for language in LANGUAGES:
        if options.only not in {None, language.name}:
            continue
        files = list(sample(options.repos, language, options.files, options.seed))
        if not files:
            continue
        row = compare_files(language, files, ctags, known, options.only)
        rows[language.name] = row
        recall = f"{row['found'] / row['tags']:.3f}" if row["tags"] else "-"
        print(
            f"{language.name:20}{len(files):6}{row['repos']:6}{row['tags']:7}{row['found']:7}"
            f"{recall:>8}{row['ours']:7}{row['partial']:8}{row['speed']:7.1f}"
        )
    print(json.dumps({"ctags": rows}))


def ctags_languages(ctags: str) -> dict[str, str]:
    names = subprocess.run(
        [ctags, "--list-languages"], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    ours = {"Bash": "Sh", "Common Lisp": "Lisp", "Emacs Lisp": "EmacsLisp", "TSX": "TypeScript"}
    ours |= {
        "Objective-C": "ObjectiveC",
        "C or C++ header": "C++",
        "Fortran, fixed form": "Fortran",
    }
    found = {language.name: ours.get(language.name, language.name) for language in LANGUAGES}
    return {name: theirs for name, theirs in found.items() if theirs in names}


def sample(
    repos: list[Path], language: Language, number: int, seed: int
) -> Iterator[tuple[str, str, bytes]]:
    """Files of a language that define something by their size, drawn evenly from repositories."""
    by_repo: list[list[tuple[Path, bytes, bytes]]] = []
    for repo in repos:
        files = []
        for entry in git(repo, "ls-tree", "-r", "-z", "-l", "HEAD").split(b"\0"):
            if entry and language_of(path := entry.split(b"\t", 1)[1]) == language:
                mode, _, oid, size = entry.split(b"\t", 1)[0].split()
                if mode != b"120000" and size.isdigit() and 400 <= int(size) <= 200_000:
                    files.append((repo, oid, path))
        random.Random(seed).shuffle(files)
        by_repo.append(files)
    taken = 0
    while taken < number and any(by_repo):
        for files in by_repo:
            if files and taken < number:
                repo, oid, path = files.pop()
                text = git(repo, "cat-file", "blob", oid.decode())
                if b"<?hh" not in text[:200]:  # Hack in a file named .php
                    yield repo_name(repo), path.decode("utf-8", "replace"), text
                    taken += 1


def compare_files(
    language: Language,
    files: list[tuple[str, str, bytes]],
    ctags: str | None,
    known: dict[str, str],
    show: str | None,
) -> dict[str, float]:
    started = time.process_time()
    tables = [extract(text, language) for _, _, text in files]
    seconds = time.process_time() - started
    row: dict[str, float] = {
        "files": len(files),
        "repos": len({repo for repo, _, _ in files}),
        "tags": 0,
        "found": 0,
        "ours": sum(len(table.symbols) for table in tables),
        "partial": sum(table.coverage is not Coverage.FULL for table in tables),
        "speed": round(sum(len(text) for _, _, text in files) / max(seconds, 1e-6) / 1e6, 1),
    }
    if ctags is None or language.name not in known:
        return row
    for (repo, path, text), table in zip(files, tables, strict=True):
        for name, line, kind in tags(ctags, known[language.name], path, text):
            is_found = any(
                one.first_line <= line <= one.last_line and plain(one.name).endswith(plain(name))
                for one in table.symbols
            )
            row["tags"] += 1
            row["found"] += is_found
            if not is_found and show == language.name:
                print(f"  {repo}:{path}:{line} {kind} {name}")
    return row


def tags(ctags: str, language: str, path: str, text: bytes) -> Iterator[tuple[str, int, str]]:
    suffix = Path(path).suffix or ".txt"
    target = Path(f"/tmp/codememory-ctags{suffix}")  # noqa: S108  # one at a time, written here
    target.write_bytes(text)
    command = [ctags, "--output-format=json", "--fields=+nK", f"--language-force={language}"]
    listed = subprocess.run(
        [*command, "-f", "-", str(target)], capture_output=True, check=True
    ).stdout
    target.unlink()
    skipped = NOT_ASKED.get(language, set())
    for line in listed.decode("utf-8", "replace").splitlines():
        tag = json.loads(line)
        if tag["_type"] != "tag" or tag.get("kind", "") not in KINDS - skipped:
            continue
        if not is_mistaken(tag, language, text):
            yield tag["name"], tag["line"], tag["kind"]


def is_mistaken(tag: dict[str, Any], language: str, text: bytes) -> bool:
    """What ctags takes for a function, class or method and its own line shows to be none."""
    name, line = (
        str(tag["name"]),
        text.splitlines()[int(tag["line"]) - 1].decode("utf-8", "replace"),
    )
    if name.startswith(("anon", "__anon", "Anonymous", "<lambda>")) or name in {"()", "_"}:
        return True
    if language == "JavaScript" and tag["kind"] == "class":
        return "class" not in line  # an object in a variable
    if language == "Kotlin" and tag["kind"] == "method":
        return not re.search(r"\bfun\b|\bconstructor\b", line)  # a parameter of a lambda
    if language in {"Haskell", "Elm"} and tag["kind"] == "function":
        before = b"\n".join(text.splitlines()[: int(tag["line"]) - 1])
        if before.count(b"{-") > before.count(b"-}"):
            return True  # an example in a comment
        # A field of a record, a type of its own line, a splice, a keyword
        return not re.match(rf"\s*\(?{re.escape(name)}(?!\w)(?!\s*(?:,|::))[^{{=]*[=|](?!>)", line)
    return language == "Sh" and name.endswith("=")  # an array


def plain(name: str) -> str:
    return name.replace("::", ".").replace(" ", "").strip("\"'`")


def repo_name(repo: Path) -> str:
    return repo.parent.name if repo.name == "repo" else repo.name


def git(repo: Path, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(repo), *arguments], capture_output=True, check=True
    ).stdout


if __name__ == "__main__":
    main()
