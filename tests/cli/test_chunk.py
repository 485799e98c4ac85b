from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from rag_index.cli.app import main
from rag_index.cli.render_chunks import histogram

SENTENCES = (
    "The Go programming language favors standard libraries and simple tools. The use of iterators, introduced in "
    "recent versions, simplifies the construction of complex pipelines."
)
FOUR = [
    "The Go programming language favors standard libraries and",
    "libraries and simple tools. The use of iterators, introduced",
    "introduced in recent versions, simplifies the construction",
    "construction of complex pipelines.",
]


@pytest.fixture
def stdin(monkeypatch):
    def give(data: bytes) -> None:
        # pytest closes the real standard input; the program reads the buffer below, as it would a pipe.
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return give


def test_chunks_of_a_file_with_sizes_and_the_overlap_marked(docs, snapshot, capsys) -> None:
    assert main(["chunk", "docs/guide.md", "--model", "hash", "--size", "120", "--overlap", "30"]) == 0
    snapshot(capsys.readouterr().out, "chunk.txt")


def test_chunks_as_json_keep_the_contract(docs, snapshot, capsys) -> None:
    assert main(["chunk", "docs/guide.md", "--model", "hash", "--size", "120", "--overlap", "30", "--json"]) == 0
    out = capsys.readouterr().out
    snapshot(out, "chunk.json")
    text = (docs / "guide.md").read_text()
    for chunk in json.loads(out)["chunks"]:
        assert text[chunk["start"] : chunk["end"]] == chunk["text"]


def test_chunks_as_json_lines(docs, capsys) -> None:
    main(["chunk", "docs/guide.md", "--model", "hash", "--json"])
    whole = json.loads(capsys.readouterr().out)["chunks"]
    assert main(["chunk", "docs/guide.md", "--model", "hash", "--jsonl"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == whole


def test_a_window_of_sixty_cuts_the_example_into_four(stdin, capsys) -> None:
    stdin(SENTENCES.encode())
    arguments = ["chunk", "-", "--chunker", "window", "--size", "60", "--overlap", "15", "--model", "hash", "--json"]
    assert main(arguments) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [chunk["text"] for chunk in shown["chunks"]] == FOUR
    assert {name: shown[name] for name in ("path", "chunker", "size", "overlap", "unit")} == {
        "path": "-",
        "chunker": "window",
        "size": 60,
        "overlap": 15,
        "unit": "characters",
    }


def test_a_size_in_tokens(docs, capsys) -> None:
    assert main(["chunk", "docs/guide.md", "--model", "hash", "--unit", "tokens", "--size", "12", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["size"], shown["overlap"], shown["unit"]) == (12, 2, "tokens")
    assert max(chunk["tokens"] for chunk in shown["chunks"]) <= 12


def test_a_stream_gives_its_first_chunk_before_it_ends():
    command = [sys.executable, "-m", "rag_index", "chunk", "-", "--stream", "--model", "hash", "--chunker", "window"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        running.stdin.write(b"one two three four five " * 400)
        running.stdin.flush()
        first = json.loads(running.stdout.readline())  # the input is still open
        running.stdin.write("fin né".encode())
        running.stdin.close()
        last = json.loads(running.stdout.readlines()[-1])
    assert (first["index"], first["start"], first["total_chunks"]) == (0, 0, None)
    assert last["text"].endswith("five fin né")
    assert last["end"] == 24 * 400 + 6


def test_a_stream_that_is_no_text_is_an_error(stdin, capsys):
    stdin(b"abc \xff\xfe")
    assert main(["chunk", "-", "--stream", "--model", "hash"]) == 2
    assert capsys.readouterr().err.startswith("error: the input is not UTF-8 near byte 4\n")
    assert main(["chunk", "nothing.txt", "--stream", "--model", "hash"]) == 2
    assert capsys.readouterr().err.startswith("error: can't read nothing.txt: ")


def test_a_streamed_file_gives_the_chunks_of_the_file(docs, capsys):
    arguments = ["chunk", "docs/guide.md", "--model", "hash", "--chunker", "window", "--size", "50"]
    assert main([*arguments, "--stream"]) == 0
    streamed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main([*arguments, "--jsonl"]) == 0
    whole = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [{**chunk, "total_chunks": len(whole)} for chunk in streamed] == whole


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        pytest.param(["no.md"], 2, "no such file or folder: no.md", "Check the path.", id="missing"),
        pytest.param(["docs"], 2, "docs is a folder", "Name one file in it.", id="folder"),
        pytest.param(
            ["docs/guide.md", "--chunker", "sentense"],
            2,
            "unknown chunker 'sentense'",
            "Did you mean 'sentence'?",
            id="name",
        ),
        pytest.param(
            ["docs/guide.md", "--size", "9", "--overlap", "9"],
            2,
            "overlap is 9 but must be from 0 to size - 1 (8)",
            "Lower --overlap or raise --size.",
            id="overlap",
        ),
    ],
)
def test_what_cant_be_chunked_is_an_error_with_a_hint(docs, arguments, code, error, hint, capsys) -> None:
    assert main(["chunk", *arguments, "--model", "hash"]) == code
    assert capsys.readouterr() == ("", f"error: {error}\nhint: {hint}\n")


def test_a_file_without_text_has_no_chunks_and_stderr_says_why(docs, capsys) -> None:
    assert main(["chunk", "docs/empty.txt", "--model", "hash", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["chunks"] == []
    assert err.startswith("docs/empty.txt: empty: ")


@pytest.mark.parametrize(
    ("sizes", "lines"),
    [
        pytest.param([], [], id="none"),
        pytest.param([1], ["characters   chunks", "    1-1           1 " + "█" * 40], id="one"),
        pytest.param(
            [5, 15, 15, 95, 100],
            [
                "characters   chunks",
                "    1-10          1 " + "█" * 20,
                "   11-20          2 " + "█" * 40,
                "   21-30          0",
                "   31-40          0",
                "   41-50          0",
                "   51-60          0",
                "   61-70          0",
                "   71-80          0",
                "   81-90          0",
                "   91-100         2 " + "█" * 40,
            ],
            id="several",
        ),
    ],
)
def test_the_histogram_counts_chunks_by_size(sizes, lines) -> None:
    assert histogram(sizes) == lines
