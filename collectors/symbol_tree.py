"""From bytes to raw definitions with tree-sitter: one query a grammar, one pass over its captures.

A query that lists node types runs in C over the whole tree; walking it from Python to see every
comment and string takes longer, and a pruned walk would miss definitions in places nobody listed.
"""

from __future__ import annotations

import gc
import re
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from tree_sitter import Node, Parser
from tree_sitter_languages import get_language, get_parser

from collectors.symbol_languages import DefinitionRule, Language, language_named
from collectors.symbol_names import QUOTES, decoded_name, first_of, follow, plain_name, type_name
from collectors.symbol_values import Placed, SymbolKind

MAX_DEPTH = 100  # definitions inside definitions; deeper ones are left to the outer one
MAX_SYMBOLS = 20_000
MAX_OFFSET = (1 << 32) - 1
MAX_NAME = 200  # bytes of a name on its own
_CLASS_LIKE = frozenset(
    {
        SymbolKind.CLASS,
        SymbolKind.INTERFACE,
        SymbolKind.TRAIT,
        SymbolKind.STRUCT,
        SymbolKind.ENUM,
    }
)

_HAS_SPACE = re.compile(rb"\s").search


class Definition(NamedTuple):
    """A definition before its text is hashed: bytes [start, end), body [body, end) inside them.

    `head` is where it begins without decorators and the like; lines are 1-based.
    """

    name: str
    plain_name: bytes
    kind: SymbolKind
    parent: int | None
    start: int
    head: int
    body: int
    end: int
    first_line: int
    last_line: int
    is_partial: bool


@dataclass(slots=True)
class Parsed:
    """What a parser found, in the order of bytes.

    Regions (start, end, is a comment) do not overlap: comments, and strings with white space.
    Pieces are parts that were read on their own; there is nothing else inside of them.
    """

    definitions: list[Definition] = field(default_factory=list)
    regions: list[tuple[int, int, bool]] = field(default_factory=list)
    block_ends: list[int] = field(default_factory=list)
    has_error: bool = False
    is_limited: bool = False
    pieces: list[Placed] = field(default_factory=list)


class Scope(NamedTuple):
    end: int
    name: str
    is_class_like: bool
    number: int | None  # of the symbol it belongs to


def parse_tree(data: bytes, language: Language) -> Parsed:
    """Every definition, comment and string of the bytes; needs time and memory for all of them."""
    grammar = grammar_of(language.name)
    root = grammar.parser.parse(data).root_node
    if root.has_error and (repaired := grammar.repaired(data)) != data:
        root = grammar.parser.parse(repaired).root_node  # offsets are the same; text is data's
    found = Parsed(has_error=root.has_error)
    Reader(data, found, grammar).read(grammar.captures(root))
    if found.block_ends:
        end_before_comments(data, found)
    return found


def end_before_comments(data: bytes, found: Parsed) -> None:
    """Where indentation ends a block, comments after its last statement are no part of it."""
    comments = {end: start for start, end, is_comment in found.regions if is_comment}
    for number, one in enumerate(found.definitions):
        end = one.end
        while (start := comments.get(end)) is not None and start > one.body:
            before = len(data[one.start : start].rstrip()) + one.start
            if b"\n" not in data[before:start]:
                break  # beside the last statement
            end = before
        if end != one.end:
            lines = data.count(b"\n", end, one.end)
            found.definitions[number] = one._replace(end=end, last_line=one.last_line - lines)


class Grammar:
    """A language's parser, its query, and its rules by node type."""

    def __init__(self, language: Language) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # how the package loads its grammars
            grammar = get_language(language.grammar)
            self.parser: Parser = get_parser(language.grammar)
        known = {grammar.node_kind_for_id(i) for i in range(grammar.node_kind_count)}
        self.repairs = [re.compile(pattern) for pattern in language.repairs]
        self.rules: dict[str, list[Rule]] = {}
        for rule in language.rules:
            if rule.node in known:
                self.rules.setdefault(rule.node, []).append(Rule(rule))
        roles = {
            "w": language.wrappers,
            "c": language.comments,
            "s": language.strings,
            "b": language.blocks,
            "d": tuple(self.rules),
        }
        patterns = [
            "[" + "".join(f"({node})" for node in nodes if node in known) + f"] @{role}"
            for role, nodes in roles.items()
            if any(node in known for node in nodes)
        ]
        self.query = grammar.query("\n".join(patterns))
        self.roles: dict[str, str] = {}  # of each type of node, in the order of captures
        for role, nodes in roles.items():
            for name in nodes:
                self.roles[name] = self.roles.get(name, "") + role

    def captures(self, node: Node, before: int = MAX_OFFSET) -> list[tuple[Node, str]]:
        """What stands in the node, with its role, in order; of what begins before an offset."""
        # All at once; the collector of cycles would look at the growing list again and again.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            found: list[tuple[Node, str]]
            if before == MAX_OFFSET:
                found = self.query.captures(node)
                return found
            found = self.query.captures(node, start_byte=node.start_byte, end_byte=before)
            return [one for one in found if one[0].start_byte < before]
        finally:
            if was_enabled:
                gc.enable()

    def repaired(self, data: bytes) -> bytes:
        """The bytes with spaces for what the grammar wrongly refuses, at the same offsets."""
        for pattern in self.repairs:
            data = pattern.sub(lambda found: b" " * len(found[0]), data)
        return data


@cache
def grammar_of(name: str) -> Grammar:
    return Grammar(language_named(name))


class Rule:
    """A rule with its paths taken apart."""

    def __init__(self, rule: DefinitionRule) -> None:
        self.kind, self.types, self.words = rule.kind, rule.types, rule.words
        self.fixed, self.mark, self.until = rule.fixed, rule.mark.encode(), rule.until
        self.is_rest, self.is_joined, self.is_top_only = (
            rule.is_rest,
            rule.is_joined,
            rule.is_top_only,
        )
        self.names = [path.split(".") for path in rule.names]
        self.bodies = [(path.removeprefix(">").split("."), path[0] == ">") for path in rule.bodies]
        self.value = rule.value.split(".") if rule.value else None
        self.prefix = rule.prefix
        self.is_class_like = rule.kind in _CLASS_LIKE or (rule.kind is None and rule.fixed == "")

    def matches(self, node: Node, data: bytes) -> bool:
        if self.value is None:
            return True
        found = follow(node, self.value)
        if found is None:
            return False
        if self.words:
            return data[found.start_byte : found.end_byte] in self.words
        return found.type in self.types

    def body_of(self, node: Node) -> int | None:
        """Where its body starts."""
        for path, is_after in self.bodies:
            if (found := follow(node, path)) is not None:
                return found.end_byte if is_after else found.start_byte
        return None


class Reader:
    """Turns captures, in document order, into definitions with qualified names."""

    def __init__(self, data: bytes, found: Parsed, grammar: Grammar) -> None:
        self.data, self.found, self.rules = data, found, grammar.rules
        self.scopes: list[Scope] = []
        self.wrapper: Node | None = None

    def read(self, captures: list[tuple[Node, str]]) -> None:
        data, found, region_end = self.data, self.found, 0
        for node, role in captures:
            if role == "d":
                self.define(node)
            elif role == "b":
                found.block_ends.append(node.end_byte)
            elif role == "w":
                self.wrap(node)
            else:
                start = node.start_byte
                if start >= region_end:  # a comment in a string's interpolation is the string's
                    region_end = node.end_byte
                    if role == "c" or _HAS_SPACE(data, start, region_end):
                        found.regions.append((start, region_end, role == "c"))

    def wrap(self, node: Node) -> None:
        if self.wrapper is None or self.wrapper.end_byte != node.end_byte:
            self.wrapper = node

    def define(self, node: Node) -> None:
        data, scopes, start = self.data, self.scopes, node.start_byte
        rule = next((rule for rule in self.rules[node.type] if rule.matches(node, data)), None)
        if rule is None:
            return
        before: Scope | None = None
        while scopes and scopes[-1].end <= start:
            before = scopes.pop()
        outer = scopes[-1] if scopes else None
        if rule.is_top_only and outer is not None:
            return
        if len(scopes) >= MAX_DEPTH or len(self.found.definitions) >= MAX_SYMBOLS:
            self.found.is_limited = True
            return
        text = self._name(rule, node)
        if text is None:
            return
        name = _qualified(outer, text)
        if rule.kind is None:
            self._open(rule, node, name, outer)
        elif rule.is_joined and before and before.number is not None and before.name == name:
            self._join(node, before)
        else:
            is_method = (outer is not None and outer.is_class_like) or b"::" in text
            kind = SymbolKind.METHOD if rule.kind == "FUNCTION" and is_method else rule.kind
            scopes.append(
                Scope(node.end_byte, name, rule.is_class_like, len(self.found.definitions))
            )
            parent = outer.number if outer else None
            self._add(node, rule.body_of(node), name, text, kind, parent)

    def _open(self, rule: Rule, node: Node, name: str, outer: Scope | None) -> None:
        """A scope that is no symbol itself; a statement without a body reaches to the end."""
        end = node.end_byte
        if rule.is_rest and rule.body_of(node) is None:
            end = len(self.data)
            name = name.removeprefix(f"{outer.name}.") if outer else name
            self.scopes.clear()  # one such statement ends what an earlier one named
            outer = None
        number = outer.number if outer else None
        self.scopes.append(Scope(end, name, rule.is_class_like, number))

    def _join(self, node: Node, before: Scope) -> None:
        """Another equation or clause of the function before it."""
        number = before.number or 0
        one = self.found.definitions[number]
        end, last_line = self._end(node)
        self.found.definitions[number] = one._replace(
            end=end,
            last_line=last_line,
            is_partial=one.is_partial or node.has_error,
        )
        self.scopes.append(before._replace(end=node.end_byte))

    def _add(
        self,
        node: Node,
        body: int | None,
        name: str,
        text: bytes,
        kind: SymbolKind,
        parent: int | None,
    ) -> None:
        first, wrapper = node, self.wrapper
        if wrapper is not None and wrapper.end_byte == node.end_byte:
            first = wrapper
        self.wrapper = None
        end, last_line = self._end(node)
        self.found.definitions.append(
            Definition(
                name,
                text.replace(b"::", b".").rpartition(b".")[2] or text,
                kind,
                parent,
                first.start_byte,
                node.start_byte,
                end if body is None else min(body, end),
                end,
                first.start_point[0] + 1,
                last_line,
                node.has_error,
            )
        )

    def _end(self, node: Node) -> tuple[int, int]:
        """Where it ends, and its last line: some grammars count the line ends that follow."""
        end, line = node.end_byte, node.end_point[0] + 1
        if self.data[end - 1 : end].isspace():
            text = self.data[node.start_byte : end]
            left = len(text.rstrip())
            return node.start_byte + left, line - text.count(b"\n", left)
        return end, line

    def _name(self, rule: Rule, node: Node) -> bytes | None:
        """The name as written, with the type before it; b"" for what has none; None: skip it."""
        found = first_of(node, rule.names)
        if found is not None:
            text = rule.mark + plain_name(self.data[found.start_byte : found.end_byte], found.type)
        elif rule.until and (stop := follow(node, [rule.until])) is not None:
            words = self.data[node.start_byte : stop.start_byte].split()
            text = b".".join(word.strip(QUOTES) for word in words)
        else:
            text = (rule.fixed or "").encode()
        if rule.prefix and (typed := node.child_by_field_name(rule.prefix)) is not None:
            before = type_name(self.data[typed.start_byte : typed.end_byte])
            text = before + b"." + text if text else before
        if not text and rule.kind is not None:
            return None
        return text[:MAX_NAME]


def _qualified(outer: Scope | None, text: bytes) -> str:
    name = decoded_name(text)
    if outer is None or not outer.name:
        return name
    return f"{outer.name}.{name}" if name else outer.name
