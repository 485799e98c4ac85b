"""The cases that broke others, through the public API, and the example of the Go contract."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from rag_index.chunk import chunk

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases" / "chunking"
GO = (
    "The Go programming language favors standard libraries and simple tools. The use of iterators, introduced in "
    "recent versions, simplifies the construction of complex pipelines."
)


def spans_of(strategy, size, overlap):
    chunk("", strategy, size, overlap)  # what is wrong is raised here, before any text is read
    return lambda text: ((item.start, item.end) for item in chunk(text, strategy, size, overlap))


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not beside this repository")
def test_all_shared_cases_pass():
    sys.path.insert(0, str(CASES))
    try:
        from check_cases import check
    finally:
        sys.path.pop(0)
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    # Time on a shared machine says nothing: the benchmarks measure it.
    timed = {"linear_time", "max_seconds"}
    found = {}
    for case in map(json.loads, lines):
        case["expect"] = {name: value for name, value in case["expect"].items() if name not in timed}
        found[case["id"]] = check(case, spans_of)
    assert len(found) >= 14
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_window_gives_the_four_chunks_of_the_go_contract():
    assert [(item.index, item.start, item.end, item.text) for item in chunk(GO, "window", 60, 15)] == [
        (0, 0, 57, "The Go programming language favors standard libraries and"),
        (1, 44, 104, "libraries and simple tools. The use of iterators, introduced"),
        (2, 94, 152, "introduced in recent versions, simplifies the construction"),
        (3, 140, 174, "construction of complex pipelines."),
    ]


def test_a_short_word_before_a_very_long_one_ends_and_keeps_every_letter():
    spans = [(item.start, item.end) for item in chunk("A " + "x" * 100, "window", 60, 15)]
    assert spans == [(0, 1), (2, 62), (47, 102)]
