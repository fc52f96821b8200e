"""Prisma schemas: what is a symbol, and what only looks like one."""

from __future__ import annotations

import pytest

from collectors.symbol_languages import language_named
from collectors.symbol_values import Coverage, SymbolKind, SymbolTable
from collectors.symbols import extract

MODEL = "model Order {\n  id Int @id\n}\n"


def read(text: str) -> SymbolTable:
    return extract(text.encode(), language_named("Prisma"))


def names(text: str) -> list[str]:
    return [one.name for one in read(text).symbols]


@pytest.mark.parametrize(
    "text",
    [
        f"/* model Ghost {{\n}} */\n{MODEL}",
        f"// model Ghost {{\n{MODEL}",
        f"/// model Ghost {{\n{MODEL}",
        MODEL.replace("@id", '@default("} model Ghost {")'),
        MODEL.replace("@id", '@default("// \\" /*")'),
        MODEL.replace("@id", "@id // }"),
        MODEL.replace("\n", "\r\n"),
        "\ufeff" + MODEL,
    ],
)
def test_only_code_counts(text: str) -> None:
    assert names(text) == ["Order", "Order.id"]


def test_a_field_of_a_model_is_a_relation() -> None:
    table = read(MODEL + "model Refund {\n  order Order @relation(fields: [id])\n  n Int\n}\n")
    kinds = {one.name: one.kind for one in table.symbols}
    assert kinds["Refund.order"] is SymbolKind.RELATION
    assert kinds["Refund.n"] is SymbolKind.PROPERTY


def test_block_attributes_are_the_models_own() -> None:
    before, after = (read(MODEL.replace("}", f"  @@map({n})\n}}")).symbols for n in "ab")
    assert [one.name for one in before] == ["Order", "Order.id"]
    assert before[0].own_hash != after[0].own_hash
    assert before[1].text_hash == after[1].text_hash


def test_a_comment_beside_a_field_is_no_part_of_it() -> None:
    text = MODEL.replace("@id", "@id   // the key")
    one = read(text).symbols[1]
    assert text.encode()[one.start : one.end] == b"id Int @id"


@pytest.mark.parametrize("text", ["model Order {\n  id Int\n", "nonsense\n" + MODEL, MODEL + "}"])
def test_what_is_no_prisma_is_partial(text: str) -> None:
    assert read(text).coverage is Coverage.PARTIAL
    assert "Order" in names(text)


def test_a_schema_of_nothing_is_whole() -> None:
    assert read("").coverage is Coverage.FULL
    assert read("// nothing\n").symbols == ()
