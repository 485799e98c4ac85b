"""All real files of the shared cases: status, what the text must hold, and what it must not."""

import json
from pathlib import Path

import pytest

from rag_index.extract import discover, read_document
from rag_index.extract.fold import fold
from rag_index.settings import ExtractSettings
from rag_index.types import Document
from tests.unit.extract.samples import peak_mb_of_reading

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


def test_reading_them_takes_less_than_400_megabytes() -> None:
    assert peak_mb_of_reading(CASES) < 400
