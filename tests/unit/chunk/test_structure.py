from __future__ import annotations

import pytest

from rag_index.chunk import chunk_document
from rag_index.extract import extract_bytes
from rag_index.settings import ChunkSettings, ExtractSettings
from rag_index.types import Block, Document, Source


def cut(name: str, text: str, **settings) -> list[str]:
    document = extract_bytes(text.encode(), name, ExtractSettings())
    return [span.of(document.text) for span in chunk_document(document, ChunkSettings(**settings))]


def document(text: str, *blocks: Block) -> Document:
    return Document(Source(""), text=text, blocks=blocks)


LINES = "\n".join(f"line {number} of it" for number in range(8))


def test_a_chunk_ends_before_a_heading_rather_than_behind_it():
    text = f"# One\n\n{LINES}\n\n## Two\n\n{LINES}\n"
    chunks = cut("a.md", text, size=170, overlap=0)
    assert chunks[0].endswith("line 7 of it")
    assert chunks[1].startswith("## Two\n\nline 0")


def test_headings_that_follow_each_other_stay_with_their_text():
    text = f"{LINES}\n\n# One\n\n## Two\n\n{LINES}\n"
    chunks = cut("a.md", text, size=140, overlap=0)
    assert [part[:5] for part in chunks[:2]] == ["line ", "# One"]
    assert "## Two\n\nline 0" in chunks[1]


def test_with_sections_no_chunk_crosses_a_heading():
    text = "# One\n\nfirst\n\n## Two\n\nsecond\n\n# Three\n\nthird\n"
    assert cut("a.md", text, size=500, overlap=0, sections=True) == [
        "# One\n\nfirst",
        "## Two\n\nsecond",
        "# Three\n\nthird",
    ]
    assert cut("a.md", "# One\n\n## Two\n\nsecond\n", size=500, overlap=0, sections=True) == [
        "# One\n\n## Two\n\nsecond"
    ]


def test_a_code_fence_that_fits_is_not_cut_at_its_blank_lines():
    fence = "```python\nx = 1\n\ny = 2\n\nz = 3\n```"
    text = f"Some words stand before the code here.\n\n{fence}\n\nAnd after."
    assert fence in cut("a.md", text, size=70, overlap=0)[1]


def test_source_code_is_cut_before_definitions():
    body = "    first = 1\n\n    second = 2\n\n    return first\n"
    text = "".join(f"def function_{name}():\n{body}\n\n" for name in "abcd")
    assert [part[:14] for part in cut("a.py", text, size=130, overlap=0)] == [
        f"def function_{name}" for name in "abcd"
    ]  # fmt: skip


def test_hidden_text_and_furniture_are_in_no_chunk_unless_furniture_is_kept():
    text = "menu menu secret body of the page"
    made = document(
        text, Block(0, 9, "nav", role="furniture"), Block(10, 16, "hidden", role="hidden"), Block(17, 33, "paragraph")
    )
    settings = ChunkSettings(size=100, overlap=0)
    assert [span.of(text) for span in chunk_document(made, settings)] == ["body of the page"]
    kept = [span.of(text) for span in chunk_document(made, settings, keep_furniture=True)]
    assert kept == ["menu menu", "body of the page"]


@pytest.mark.parametrize("kind", ["page", "slide", "sheet", "message", "chapter"])
def test_pages_and_their_like_are_preferred_borders(kind):
    text = "aaa bbb ccc ddd eee fff ggg hhh"
    made = document(text, Block(0, 19, kind), Block(20, 31, kind))
    assert [span.of(text) for span in chunk_document(made, ChunkSettings(size=24, overlap=0))] == [
        "aaa bbb ccc ddd eee",
        "fff ggg hhh",
    ]


def test_rows_are_borders_only_where_no_better_one_is_near():
    text = "| a | b |\n| c | d |\n| e | f |\n\nThe text."
    rows = [Block(start, start + 9, "row") for start in (0, 10, 20)]
    made = document(text, Block(0, 29, "table"), *rows, Block(31, 40, "paragraph"))
    whole = [span.of(text) for span in chunk_document(made, ChunkSettings(size=35, overlap=0))]
    assert whole == [text[:29], "The text."]
    small = [span.of(text) for span in chunk_document(made, ChunkSettings(size=16, overlap=0))]
    assert small == ["| a | b |", "| c | d |", "| e | f |", "The text."]


@pytest.mark.parametrize("chunker", ["sentence", "semantic", "window"])
def test_sections_hold_for_every_chunker(chunker):
    text = "# One\n\nFirst is it.\n\n# Two\n\nSecond is it.\n"
    made = extract_bytes(text.encode(), "a.md", ExtractSettings())
    settings = ChunkSettings(chunker, 500, 0, sections=True)

    def embed(texts):
        import numpy as np

        return np.ones((len(texts), 2), dtype=np.float32)

    found = [span.of(text) for span in chunk_document(made, settings, embed=embed)]
    assert found == ["# One\n\nFirst is it.", "# Two\n\nSecond is it."]


def test_the_end_of_a_page_inside_a_sentence_is_no_border_for_sentences():
    text = "One is short. Two runs on\nover the page. Three is it."
    made = document(text, Block(0, 25, "page"), Block(26, 53, "page"))
    found = [span.of(text) for span in chunk_document(made, ChunkSettings("sentence", 45, 0))]
    assert found == ["One is short. Two runs on\nover the page.", "Three is it."]
    whole = document("One is short.\nTwo is it. Three is.", Block(0, 13, "page"), Block(14, 34, "page"))
    found = [span.of(whole.text) for span in chunk_document(whole, ChunkSettings("sentence", 24, 0))]
    assert found == ["One is short.\nTwo is it.", "Three is."]


def test_every_chunker_prefers_the_end_of_a_block():
    text = "One is it. Two is it.\nThree is it. Four is it. Five is it."
    made = document(text, Block(0, 21, "paragraph"), Block(22, 59, "paragraph"))
    for chunker in ("character", "sentence"):
        found = [span.of(text) for span in chunk_document(made, ChunkSettings(chunker, 25, 0))]
        assert found[0] == "One is it. Two is it."
