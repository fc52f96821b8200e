"""Lines of evidence with the cited words marked, in bytes of any kind."""

from __future__ import annotations

from codememory.models import EvidenceLink, EvidenceSegment
from review.excerpts import cited_text, excerpt_lines
from review.templatetags.review_extras import visible

MARK = b"[REDACTED:password:9c1f02ab]"


def cut(
    content: bytes, said: bytes, *, at: int = 100, redactions: list[dict[str, object]] | None = None
) -> tuple[EvidenceSegment, EvidenceLink]:
    """A segment at byte `at`, line 7, and the link to `said` in it (where nothing is redacted)."""
    segment = EvidenceSegment(
        first_line=7, byte_start=at, content=content, redactions=redactions or []
    )
    start = at + max(content.find(said), 0)
    return segment, EvidenceLink(byte_start=start, byte_end=start + len(said))


def test_a_sentence_over_two_lines_is_marked_on_both() -> None:
    lines = excerpt_lines(*cut(b"We say: keep\nthe key. Good.\n", b"keep\nthe key."))
    marked = [(line.number, line.before, line.cited, line.after) for line in lines]
    assert marked == [(7, "We say: ", "keep", ""), (8, "", "the key.", " Good.")]


def test_every_line_end_ends_a_line_and_is_not_shown() -> None:
    lines = excerpt_lines(*cut(b"a\r\nb\rc\nd", b"d"))
    assert [(line.number, line.before + line.cited) for line in lines] == [
        (7, "a"),
        (8, "b"),
        (9, "c"),
        (10, "d"),
    ]


def test_bytes_of_several_to_a_character_are_not_cut() -> None:
    assert cited_text(*cut("önce: öğle iade 🧾. sonra".encode(), "öğle iade 🧾.".encode())) == (
        "öğle iade 🧾."
    )


def test_a_redaction_before_the_sentence_moves_its_place() -> None:
    segment, link = cut(b"pw=" + MARK + b" Keep it.", b"", redactions=[_span(103, 106)])
    link.byte_start, link.byte_end = 107, 115  # in the original: "pw=abc Keep it."
    assert cited_text(segment, link) == "Keep it."


def test_a_redaction_inside_the_sentence_stays_whole() -> None:
    segment, link = cut(b"Use " + MARK + b" here.", b"", redactions=[_span(104, 110)])
    link.byte_start, link.byte_end = 100, 107  # ends amid what was redacted
    assert cited_text(segment, link) == "Use " + MARK.decode()


def test_bytes_that_are_no_text_are_shown_by_number() -> None:
    (line,) = excerpt_lines(*cut(b"x\xe9", b"x"))
    assert "0xE9" in visible(line.after)


def test_what_cannot_be_seen_is_boxed_and_what_can_is_not() -> None:
    assert visible("a\u200bb").count("U+200B") == 2  # its title and its code
    assert visible("öğle, 東京, 👩\u200d💻\ttab") == "öğle, 東京, 👩\u200d💻\ttab"


def test_a_mark_of_redaction_is_boxed_only_where_something_was_redacted() -> None:
    text = MARK.decode()
    assert visible(text) == text
    assert 'class="redacted"' in visible(text, [_span(1, 2)])


def test_markup_is_escaped_on_every_way() -> None:
    assert visible("<b>\x00</b>").startswith("&lt;b&gt;")
    assert "<b>" not in visible("<b>" + MARK.decode(), [_span(1, 2)])


def _span(start: int, end: int) -> dict[str, object]:
    return {"kind": "password", "start": start, "end": end}
