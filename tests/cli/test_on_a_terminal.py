"""What is different when stdout is a terminal: colours, escapes, the histogram."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from rag_index.cli.app import main
from rag_index.cli.render_passages import show_passages
from rag_index.types import Location, Passage, Place, Span


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def on_a_terminal(monkeypatch):
    """Run something with stdout on a terminal; return what it shows."""

    def run(work: Callable[[], object], **variables: str) -> str:
        screen = Terminal()
        with monkeypatch.context() as patch:
            for name in ("NO_COLOR", "TERM"):
                patch.delenv(name, raising=False)
            for name, value in variables.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdout", screen)
            work()
        return screen.getvalue()

    return run


def test_the_overlap_is_coloured_and_a_histogram_follows(docs, on_a_terminal) -> None:
    shown = on_a_terminal(
        lambda: main(["chunk", "docs/guide.md", "--model", "hash", "--size", "120", "--overlap", "30"])
    )
    assert "[[" not in shown
    assert "\x1b[1;33m" in shown
    assert "characters   chunks\n" in shown
    assert "█" in shown


def test_the_text_of_a_document_cant_drive_the_terminal(docs, on_a_terminal) -> None:
    (docs / "evil.txt").write_text("a \x1b[2J b")
    assert on_a_terminal(lambda: main(["extract", "docs/evil.txt"])) == "a \\x1b[2J b\n"


MARKED = ["show", "docs/guide.md", "--start", "2", "--end", "6", "-C", "0"]


def test_a_place_is_coloured(docs, on_a_terminal) -> None:
    assert "# \x1b[1;33mPump\x1b[0m guide" in on_a_terminal(lambda: main(MARKED))


def test_no_color_is_kept(docs, on_a_terminal) -> None:
    shown = on_a_terminal(lambda: main(MARKED), NO_COLOR="1")
    assert "[[Pump]] guide" in shown
    assert "\x1b" not in shown


TEXT = "A pump\nthat hums is fine."
PASSAGES = [
    Passage(
        "manual.pdf",
        10,
        10 + len(TEXT),
        TEXT,
        0.8123,
        chunks=("c1",),
        highlights=(Span(12, 16), Span(22, 26)),
        location=Location("p. 3", "manual.pdf#page=3", page=3, heading=("Noise", "Humming")),
        also=(Place("copy/manual.pdf", 10, 35),),
        stale=True,
    ),
    Passage("prices.xlsx", 0, 3, "Q1!", 0.5, location=Location("Q1!A7:D7", "prices.xlsx")),
    Passage("log.txt", 0, 5, "hums\n", 0.4, location=Location("L9", "log.txt#L9", line=9, end_line=9)),
]


def test_passages_in_plain_text(tmp_path, monkeypatch, snapshot, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    show_passages("noise", "hybrid", PASSAGES, tmp_path, as_json=False, json_lines=False)
    snapshot(capsys.readouterr().out, "passages.txt")


def test_passages_in_colour(tmp_path, monkeypatch, snapshot, on_a_terminal) -> None:
    monkeypatch.chdir(tmp_path)
    snapshot(
        on_a_terminal(lambda: show_passages("noise", "hybrid", PASSAGES, tmp_path, as_json=False, json_lines=False)),
        "passages_in_colour.txt",
    )


def test_passages_as_json(tmp_path, snapshot, capsys) -> None:
    show_passages("noise", "hybrid", PASSAGES, tmp_path, as_json=True, json_lines=False)
    snapshot(capsys.readouterr().out, "passages.json")
