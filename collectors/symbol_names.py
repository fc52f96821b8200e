"""Where in a tree a definition's name stands, and how it is written: paths of languages.toml."""

from __future__ import annotations

import re
from itertools import chain

from tree_sitter import Node

QUOTES = b"\"'`"
_GENERICS = re.compile(rb"<[^<>]*>|\[[^\[\]]*\]")
_TYPE_NAME = re.compile(rb"[\w\x80-\xff:.$]*[\w\x80-\xff]")
_ASSIGNED = re.compile(
    rb"^(?:module\.)?exports(?:\.|$)|^(?:this|self|window)\.|\.prototype(?=\.|$)"
)
_SELECTOR = re.compile(rb"(\w*\s*:)\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*\w+")


def first_of(node: Node, paths: list[list[str]]) -> Node | None:
    for path in paths:
        if (found := follow(node, path)) is not None:
            return found
    return None


def follow(node: Node, path: list[str]) -> Node | None:
    if len(path) == 1 and path[0].isalpha():  # nearly always: one field
        return node.child_by_field_name(path[0])
    found: Node | None = node
    for step in path:
        if found is None:
            return None
        if step[-1] == "*":
            found = _innermost(found, step[:-1])
        elif step[0] == "#":
            found = next((n for n in found.children if n.type == step[1:]), None)
        elif step[-2:] == ":2":
            found = next(iter(found.children_by_field_name(step[:-2])[1:]), None)
        else:
            found = found.child_by_field_name(step)
    return found


def _innermost(node: Node, field_name: str) -> Node | None:
    """Down the field as far as it goes, and through declarators that only add `*`, `&` or `()`."""
    found = node.child_by_field_name(field_name)
    while found is not None and found.type != "operator_cast":
        inner = found.child_by_field_name(field_name)
        if inner is None and found.type.endswith("_declarator") and found.named_child_count:
            inner = found.named_child(found.named_child_count - 1)
        if inner is None:
            break
        found = inner
    return None if found is None or found.type in {"parameter_list", "ERROR"} else found


def plain_name(text: bytes, node_type: str) -> bytes:
    """A name without quotes, generics of what it is qualified with, and line ends."""
    if node_type == "operator_cast":
        text = text.partition(b"(")[0]
    elif node_type == "parenthesized_operator":
        text = text.strip(b"() \n")
    elif node_type == "keyword_selector":
        text = b"".join(_SELECTOR.findall(text))
    elif node_type == "member_expression":
        text = _ASSIGNED.sub(b"", text)
    elif b"::" in text:
        head, _, tail = text.rpartition(b"::")
        text = type_name(head) + b"::" + tail if head else tail
    if text[:1] in (b'"', b"'", b"`", b"["):
        text = text.strip(QUOTES)
    if b'"' in text or b"`" in text:
        text = b".".join(part.strip(QUOTES) for part in text.split(b"."))
    return text if text.isalnum() else b" ".join(text.split())


def type_name(text: bytes) -> bytes:
    """`(s *Stack[T])` is Stack, `&'a mut a::B<T>` is a::B; what is not understood stays whole."""
    bare, count = text[:1000], 1
    while count:
        bare, count = _GENERICS.subn(b"", bare)
    names = _TYPE_NAME.findall(bare)
    return names[-1] if names else b" ".join(text.split())


def decoded_name(text: bytes) -> str:
    if b"::" in text or b"\\" in text:
        text = text.replace(b"::", b".").replace(b"\\", b".")
    name = text.decode("utf-8", "backslashreplace")
    if name.isprintable():
        return name
    return "".join(chain.from_iterable(c if c.isprintable() else ascii(c)[1:-1] for c in name))
