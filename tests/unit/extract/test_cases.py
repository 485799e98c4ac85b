"""All real files of the shared cases: status, what the text must hold, and what it must not."""

import json
from pathlib import Path

import pytest

from rag_index.extract import discover, read_document
from rag_index.extract.fold import fold
from rag_index.extract.positions import heading_path
from rag_index.settings import ExtractSettings
from rag_index.types import Document

CASES = Path(__file__).resolve().parents[3] / ".." / "shared" / "cases" / "extraction"
INDEX = CASES / "index.jsonl"
ROWS = [json.loads(line) for line in INDEX.read_text("utf-8").splitlines()] if INDEX.exists() else []
pytestmark = pytest.mark.skipif(not ROWS, reason="the shared cases are not on this machine")


def read(name: str) -> Document:
    (found,) = discover([CASES / name], ExtractSettings(), root=CASES)
    return read_document(found, ExtractSettings())


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case["file"])
def test_real_files_give_the_text_that_a_reader_sees(case: dict) -> None:
    document = read(case["file"])
    searched = fold(document.text).text
    flat = " ".join(searched.split())
    assert document.status == case["expect"], document.reason
    assert [words for words in case["must_contain"] if " ".join(words.split()) not in flat] == []
    assert [words for words in case["must_not_contain"] if words in searched] == []
    if case["expect"] == "ok" and case["pages"]:
        assert sum(block.kind in {"page", "slide"} for block in document.blocks) == case["pages"]


def test_the_two_halves_of_a_spread_come_once_each() -> None:
    document = read("reliance.pdf")
    pages = [document.text[block.start : block.end] for block in document.blocks if block.kind == "page"]
    found = [" ".join(page.split()).count("Reliance Industries Limited (RIL)") for page in pages]
    assert found[1:] == [1, 0]


def test_a_text_box_comes_once() -> None:
    text = read("testWORD_text_box.docx").text
    assert text.count("This text is inside of a text box in the body of the document.") == 1


def test_plain_text_is_the_file() -> None:
    document = read("UDHR_first_article_all.txt")
    assert len(document.text) == 93_260
    assert document.text.encode() == (CASES / "UDHR_first_article_all.txt").read_bytes()


def test_the_invisible_line_is_flagged() -> None:
    document = read("invisible_text_layer.pdf")
    hidden = [document.text[block.start : block.end] for block in document.blocks if block.role == "hidden"]
    assert hidden == ["Invisible OCR text layer"]


def test_a_sentence_of_the_wiki_page_lies_under_its_headings() -> None:
    document = read("wiki.md")
    path = heading_path(document, document.text.index("SABRE reservation system"))
    assert [title for title in path if title.startswith(("IBM", "1960"))] == ["IBM", "1960s–1980s"]
