from __future__ import annotations

import pytest

from rag_index.cli.places import find_place, lines_around
from rag_index.errors import UsageError
from rag_index.types import Block, Document, Source, Span

TEXT = "one\r\ntwo\rthree\n\nfive"
PAGES = (Block(0, 5, "page", "i"), Block(5, 20, "page", "1"))
DOCUMENT = Document(Source("a.pdf"), text=TEXT, blocks=PAGES)


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"line": 1}, Span(0, 5), id="first line"),
        pytest.param({"line": 3}, Span(9, 15), id="after a lone CR"),
        pytest.param({"line": 5}, Span(16, 20), id="last line"),
        pytest.param({"page": 2}, Span(5, 20), id="page"),
        pytest.param({"page": 2, "line": 1}, Span(5, 20), id="a page is more exact than a line"),
        pytest.param({"start": 3}, Span(3, 20), id="from"),
        pytest.param({"end": 3, "page": 2}, Span(0, 3), id="up to"),
    ],
)
def test_a_place_is_found(asked, place) -> None:
    assert find_place(DOCUMENT, **asked) == place


@pytest.mark.parametrize(
    "asked", [{"line": 0}, {"line": 6}, {"page": 0}, {"page": 3}, {"start": 5, "end": 5}, {"end": 21}, {"start": -1}]
)
def test_a_place_that_isnt_there_is_an_error(asked) -> None:
    with pytest.raises(UsageError):
        find_place(DOCUMENT, **asked)


@pytest.mark.parametrize(
    ("text", "span", "count", "numbers"),
    [
        pytest.param("a\nb\nc\nd\n", Span(2, 3), 0, [2], id="one"),
        pytest.param("a\nb\nc\nd\n", Span(2, 3), 1, [1, 2, 3], id="one around"),
        pytest.param("a\nb\nc\nd\n", Span(2, 5), 0, [2, 3], id="two"),
        pytest.param("a\nb\nc\nd\n", Span(2, 4), 0, [2], id="up to the newline"),
        pytest.param("a\nb\nc\nd\n", Span(0, 8), 9, [1, 2, 3, 4], id="all"),
        pytest.param("", Span(0, 0), 3, [1], id="empty"),
    ],
)
def test_the_lines_around_a_span(text, span, count, numbers) -> None:
    lines = lines_around(text, span, count)
    assert [number for number, _ in lines] == numbers
    assert "".join(part.of(text) for _, part in lines) in text
