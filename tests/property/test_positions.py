"""Laws of positions: text formats are the file character for character, and every map leads back."""

import html
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from rag_index.extract import extract_bytes
from rag_index.extract.fold import fold
from rag_index.extract.positions import locate, pack_blocks, unpack_blocks
from rag_index.extract.runs import unpack_runs
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Span

SETTINGS = ExtractSettings()
ENCODINGS = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "iso2022_jp",
    "cp1252",
    "cp932",
    "koi8_r",
]
PROSE = st.lists(
    st.sampled_from(
        [
            "Évora",
            "naïve",
            "e\u0301",
            "日本語",
            "한국어",
            "ﬁn",
            "😀",
            "ß",
            "plain words",
            "#",
            "Heading",
            "- item",
            "a.b",
        ]
    ),
    min_size=2,
    max_size=12,
)


@given(PROSE, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(ENCODINGS), st.sampled_from(["NFC", "NFD", ""]))
def test_text_is_the_file_for_every_encoding_newline_and_normal_form(words, newline, encoding, form) -> None:
    text = newline.join(words) + newline + "the end"
    text = unicodedata.normalize(form, text) if form else text
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError:
        return
    document = extract_bytes(data, "a.md", SETTINGS)
    source = document.source
    raw = data[source.bom :]
    for start in range(0, len(document.text), 3):
        assert raw.decode(source.encoding)[start : start + 5] == document.text[start : start + 5]
    assert source.bom == len(data) - len(document.text.encode(source.encoding))


@given(st.text("a\n\r\u2028\f é", max_size=60), st.data())
def test_line_and_column_are_those_of_an_editor(text, data) -> None:
    document = extract_bytes(("x" + text).encode(), "a.txt", SETTINGS)
    at = data.draw(st.integers(0, len(document.text) - 1))
    place = locate(document, at, at + 1)
    before = document.text[:at]
    lines = re.split(r"\r\n|\r(?!\n)|\n", before)
    if not (before.endswith("\r") and document.text[at] == "\n"):
        assert (place.line, place.column) == (len(lines), len(lines[-1]) + 1)


PAGE = st.recursive(
    st.sampled_from(
        [
            "words here",
            " and ",
            "&amp;",
            "&eacute;",
            "&#233;",
            "é",
            "\n",
            "<br>",
            "x < y",
            "&nbsp;",
            "&unknown;",
            "&copy2",
        ]
    ),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(["p", "b", "div", "h2", "li", "td", "pre", "nav", "script", "table", "tr", "main"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=20,
)


@given(st.lists(PAGE, max_size=6))
def test_every_run_of_a_page_is_its_slice_of_the_source(parts) -> None:
    source = "<html><body>" + "".join(parts) + " end"
    document = extract_bytes(source.encode(), "a.html", SETTINGS)
    runs = unpack_runs(document.positions.data)
    for run in runs:
        written = source[run.source : run.source + run.source_length]
        shown = document.text[run.start : run.start + run.length]
        assert (written if run.length == run.source_length else html.unescape(written)) == shown
        assert source[: run.source].count("\n") + 1 == run.line
    covered = {at for run in runs for at in range(run.start, run.start + run.length)}
    assert all(char.isspace() for at, char in enumerate(document.text) if at not in covered)


BLOCKS = st.lists(
    st.builds(
        lambda start, length, kind, label, level: Block(start, start + length, kind, label, "body", level),
        st.integers(0, 500),
        st.integers(0, 300),
        st.sampled_from(["section", "paragraph", "page", "row"]),
        st.text(max_size=5),
        st.integers(0, 6),
    ),
    max_size=20,
).map(lambda blocks: sorted(blocks, key=lambda block: block.start))


@given(BLOCKS)
def test_packed_blocks_come_back_the_same(blocks) -> None:
    assert unpack_blocks(pack_blocks(blocks)) == tuple(blocks)


LETTERS = st.text(
    st.sampled_from("abe \n-\u0301\u0327ﬁﬃœÆ\u00adｶﾞ①ｱ２\u1100\u1161\u11a8가\u200b\u0915\u093c’…\x00\x07😀\u00a0ŀ"),
    max_size=40,
)


@given(LETTERS)
def test_the_search_text_is_at_rest(text) -> None:
    once = fold(text).text
    assert unicodedata.is_normalized("NFKC", once)
    assert not set(once) & set("\u00ad\u200b\x00œæ")


@given(LETTERS, st.data())
def test_every_match_in_the_search_text_leads_to_what_folds_to_it(text, data) -> None:
    folded = fold(text)
    if not folded.text:
        return
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))
    span = folded.back(start, end)
    assert 0 <= span.start <= span.end <= len(text)
    assert folded.text[start:end] in folded.slice(span.start, span.end)
    forth = folded.span(span.start, span.end)
    assert forth.start <= start
    assert forth.end >= end


@given(LETTERS)
def test_many_spans_are_led_back_as_each_by_itself(text) -> None:
    folded = fold(text)
    size = len(folded.text)
    spans = [(start, end) for start in range(size + 1) for end in range(start, size + 1)]
    starts, ends = folded.back_all([start for start, _ in spans], [end for _, end in spans])
    assert list(map(Span, starts, ends)) == [folded.back(start, end) for start, end in spans]


@given(LETTERS)
def test_the_search_texts_of_pieces_cover_the_whole(text) -> None:
    folded = fold(text)
    assert folded.slice(0, len(text)) == folded.text
    spans = [folded.span(at, at + 1) for at in range(len(text))]
    reached = 0
    for span in spans:
        assert span.start <= reached
        reached = max(reached, span.end)
    assert reached == len(folded.text)


@given(st.text("abc \n.,", max_size=50))
def test_plain_text_is_its_own_search_text(text) -> None:
    assert fold(text).text is text
