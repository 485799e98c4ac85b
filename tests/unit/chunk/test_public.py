"""What callers of `rag_index.chunk` rely on: errors at once, laziness, own functions, token counts."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from dataclasses import fields
from itertools import islice

import pytest

from rag_index.chunk import check_chunker, chunk, chunk_document, chunkers, count_tokens
from rag_index.chunk.bounds import TokenBounds
from rag_index.errors import UnknownNameError, UsageError
from rag_index.settings import ChunkSettings
from rag_index.types import Chunk, Document, Source, Span, Tokens


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0, "overlap": 0}, "size is 0 but must be at least 1"),
        ({"size": 5, "overlap": 5}, r"overlap is 5 but must be from 0 to size - 1 \(4\)"),
        ({"size": 5, "overlap": -1}, "overlap is -1 but must be"),
        ({"chunker": "sentense"}, "unknown chunker 'sentense'"),
        ({"language": "klingon"}, "unknown language 'klingon'"),
        ({"unit": "bytes"}, "unknown value 'bytes'"),
        ({"unit": "tokens"}, "sizes in tokens need the tokens of a model"),
        ({"tokens": Tokens([], [], extra=9, limit=9)}, "the model reads 9 tokens, of which 9 are its own"),
    ],
)
def test_what_cant_be_meant_is_an_error_before_any_work(arguments, message):
    with pytest.raises(ValueError, match=message):
        chunk("some text", **arguments)


def test_names_are_checked_without_importing_anything():
    check_chunker(ChunkSettings("recursive"))
    with pytest.raises(UnknownNameError) as caught:
        check_chunker(ChunkSettings("windw"))
    assert caught.value.hint == "Did you mean 'window'?"
    assert chunkers.names()[:5] == ["character", "recursive", "semantic", "sentence", "window"]


def test_recursive_is_character():
    text = "one two three. four five six\n\nseven eight"
    assert list(chunk(text, "recursive", 12, 4)) == list(chunk(text, "character", 12, 4))


def test_a_chunk_says_where_it_is():
    only = next(chunk("  one  "))
    assert only == Chunk("one", 0, 2, 5)
    assert {part.name for part in fields(Chunk)} == {"text", "index", "start", "end", "total_chunks", "document"}


@pytest.mark.parametrize("chunker", ["character", "window", "sentence"])
def test_leaving_early_costs_nothing(chunker):
    text = "word and another word. " * 400_000
    list(chunk(text[:3000], chunker))  # imports and tables
    tracemalloc.start()
    began = time.process_time()
    assert len(list(islice(chunk(text, chunker), 3))) == 3
    spent = time.process_time() - began
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 1_000_000
    assert spent < 5  # not a measurement: all of it would take minutes under tracing


def test_a_function_of_your_own_is_a_chunker():
    def lines(text):
        at = 0
        for line in text.split("\n"):
            yield Span(at, at + len(line))
            at += len(line) + 1

    assert [item.text for item in chunk("ab\ncd", lines)] == ["ab", "cd"]


@pytest.mark.parametrize("span", [Span(0, 0), Span(0, 9), Span(3, 2)])
def test_a_function_that_leaves_the_text_is_an_error_with_the_span(span):
    with pytest.raises(UsageError, match=f"span {span.start}:{span.end} for a text of 4 characters"):
        list(chunk("abcd", lambda _: [span]))


def test_a_function_whose_chunks_the_model_cant_read_is_cut_further():
    text = "one two three four five six"
    tokens = words(text, limit=7, extra=2)
    assert [item.text for item in chunk(text, lambda _: [Span(0, 27)], tokens=tokens)] == [
        "one two three four five",
        "six",
    ]
    assert len(list(chunk(text, lambda _: [Span(0, 11), Span(12, 27)], tokens=tokens))) == 2


def words(text, **limits):
    starts = [at for at in range(len(text)) if text[at] != " " and (at == 0 or text[at - 1] == " ")]
    ends = [text.find(" ", at) if " " in text[at:] else len(text) for at in starts]
    return Tokens(starts, ends, **limits)


def test_a_plug_in_is_found_by_its_name(tmp_path):
    (tmp_path / "halves.py").write_text(
        "from rag_index.types import Span\n"
        "def cut(text):\n"
        "    return [Span(0, len(text) // 2), Span(len(text) // 2, len(text))]\n"
    )
    info = tmp_path / "halves-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: halves\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rag_index.chunkers]\nhalves = halves:cut\n")
    script = "from rag_index.chunk import chunk; print([c.text for c in chunk('abcd', 'halves')])"
    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {script}"]
    assert subprocess.run(run, capture_output=True, check=True, text=True).stdout == "['ab', 'cd']\n"


def test_nltk_is_imported_only_where_sentences_are_wanted():
    script = (
        "import sys, rag_index.chunk as c; list(c.chunk('One. Two.')); list(c.chunk('One. Two.', 'window'));"
        "c.detect_language('one two'); print([m for m in ('nltk', 'numpy', 'punkt') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize(
    ("span", "count"),
    [
        (Span(0, 13), (5, 1)),
        (Span(0, 3), (3, 0)),
        (Span(4, 7), (3, 1)),
        (Span(5, 6), (3, 1)),
        (Span(3, 4), (2, 0)),
    ],
)
def test_tokens_of_a_span_are_counted_with_the_models_own(span, count):
    tokens = Tokens([0, 4, 8], [3, 7, 13], unknown=[4], extra=2)
    expected = (count[0], 1 if span.start <= 4 < span.end else 0)
    assert count_tokens(tokens, span) == expected


def test_sizes_in_tokens_with_an_overlap_in_tokens():
    text = "a b c d e f g"
    parts = [item.text for item in chunk(text, "window", 4, 2, unit="tokens", tokens=words(text))]
    assert parts == ["a b c d", "c d e f", "e f g"]


def test_the_limit_holds_for_sizes_in_characters_and_leaves_no_crumbs():
    text = " ".join(["abcd"] * 40)
    tokens = words(text, limit=12, extra=2)
    parts = [item.text for item in chunk(text, "window", 150, 30, tokens=tokens)]
    assert {len(part.split()) for part in parts[1:-1]} == {7}  # the first word of a chunk counts as its four bytes
    assert len(parts[0].split()) == 10


def test_a_word_that_the_model_takes_for_one_unknown_token_is_counted_by_its_bytes():
    text = "q" * 300
    tokens = Tokens([0], [300], unknown=[0], extra=2, limit=50)
    parts = [item.text for item in chunk(text, "window", 200, 0, tokens=tokens)]
    assert all(len(part) <= 48 for part in parts)


def test_bounds_beyond_the_last_token_reach_the_end_of_the_text():
    bounds = TokenBounds(ChunkSettings(size=3, overlap=1, unit="tokens"), "ab   ", Tokens([0], [2]))
    assert (bounds.reach(0), bounds.back(0), bounds.back(2)) == (5, 0, 0)


def test_lone_surrogates_nul_and_marks_raise_nothing():
    text = "\ud800 \x00 \ufeff" + "e" + "\u0301" * 5000 + " \u202eabc"
    for chunker in ("character", "window", "sentence"):
        assert "".join(item.text for item in chunk(text, chunker, 100, 0)).count("\u0301") == 5000


@pytest.mark.parametrize("chunker", ["character", "window", "sentence"])
@pytest.mark.parametrize("piece", ["word and another. ", "x", "雨が降った。", "e\u0301"])
@pytest.mark.parametrize("length", [1_000_000, pytest.param(100_000_000, marks=pytest.mark.nightly)])
def test_one_line_of_any_length_is_covered_by_chunks_in_order(chunker, piece, length):
    text = piece * (length // len(piece))
    end = count = 0
    for item in chunk(text, chunker):
        assert item.text == text[item.start : item.end]
        assert not text[end : item.start].strip()
        assert end < item.end <= item.start + 1000
        end, count = item.end, count + 1
    assert not text[end:].strip()
    assert count <= len(text) // 200 + 1


def test_documents_take_the_same_way_as_texts():
    text = "One two three. " * 30
    spans = chunk_document(Document(Source(""), text=text), ChunkSettings(size=50, overlap=10))
    assert [(span.start, span.end) for span in spans] == [(c.start, c.end) for c in chunk(text, size=50, overlap=10)]


def test_separators_of_your_own_come_before_white_space():
    text = "alpha;beta gamma;delta epsilon;zeta"
    parts = [item.text for item in chunk(text, size=20, overlap=0, separators=[";"])]
    assert parts == ["alpha;beta gamma;", "delta epsilon;zeta"]
    lines = [item.text for item in chunk("a b\n\nc d\n\ne f", size=9, overlap=0, separators=["\n\n"])]
    assert lines == ["a b\n\nc d", "e f"]


def test_the_package_is_the_function():
    import rag_index

    assert list(rag_index.chunk("one two", chunker="window", size=4, overlap=0)) == list(
        chunk("one two", "window", 4, 0)
    )
    assert callable(rag_index.chunk)
    from rag_index.chunk import chunk_document as imported

    assert imported is chunk_document


def test_a_letter_with_its_accent_stays_whole_before_closing_marks():
    text = "a" * 7 + "e\u0301」。"
    assert [item.text for item in chunk(text, size=5, overlap=0)] == ["a" * 5, "aae\u0301」", "。"]
