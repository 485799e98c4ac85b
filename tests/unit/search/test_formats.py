"""Passages as text for other programs."""

import csv
import io

import pytest

from rag_index.errors import UnknownNameError
from rag_index.search import FORMATS, formatted
from rag_index.types import Location, Passage

ONE = Passage(
    "docs/a b.md", 3, 20, 'Say "hi",\n\nthen go.', 0.51234, location=Location("L2-4", line=2, heading=("Top", "Sub"))
)
TWO = Passage("r.pdf", 0, 4, "Text", 0.25, location=Location("p. 3", page=3), stale=True, note="changed")
ODD = Passage("bad\udcff\x1b.txt", 0, 1, "x", 0.1)


def test_csv_is_read_back_as_it_was():
    rows = list(csv.DictReader(io.StringIO(formatted("csv", "q", [ONE, TWO]))))
    assert [row["text"] for row in rows] == [ONE.text, TWO.text]
    assert rows[0] | {"text": ""} == {
        "rank": "1", "score": "0.5123", "path": "docs/a b.md", "start": "3", "end": "20", "page": "", "line": "2",
        "heading": "Top > Sub", "text": "",
    }  # fmt: skip


def test_markdown_quotes_each_passage_under_its_place():
    assert formatted("md", "What\nnow?", [ONE, TWO]) == (
        '# What now?\n\n## 1. `docs/a b.md, L2-4`\n\n> Say "hi",\n>\n> then go.\n\nScore 0.51\n\n'
        "## 2. `r.pdf, p. 3`\n\n> Text\n\nScore 0.25 (changed)\n"
    )


def test_files_are_listed_once_best_first():
    assert formatted("files", "q", [TWO, ONE, TWO]) == "r.pdf\ndocs/a b.md\n"


def test_a_prompt_numbers_what_can_be_cited():
    prompt = formatted("prompt", "What now?", [ONE, TWO])
    assert "[1] docs/a b.md, L2-4 (Top > Sub)\n" + ONE.text in prompt
    assert "[2] r.pdf, p. 3 (changed)\nText" in prompt
    assert prompt.endswith("Question: What now?\n")


def test_a_prompt_without_passages_says_so():
    assert formatted("prompt", "Why?", []).startswith("No passage")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_takes_odd_names_and_nothing(name):
    text = formatted(name, "q", [ODD])
    assert "\x1b" not in text
    text.encode("utf-8")
    assert isinstance(formatted(name, "q", []), str)


def test_an_unknown_format_names_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        formatted("cvs", "q", [])
    assert "csv" in caught.value.hint
