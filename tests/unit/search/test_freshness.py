"""Passages of files that changed after the build."""

import os
from pathlib import Path

import pytest

from rag_index.pipeline import build
from rag_index.search import freshen, search
from rag_index.search.freshness import GONE, LOST, MOVED
from rag_index.settings import EmbedSettings, SearchSettings, Settings, StoreSettings
from rag_index.store import open_snapshot

TEXT = "One line.\n\nThe warranty lasts two years.\n\nLast line.\n"


@pytest.fixture
def built(tmp_path: Path, embedder):
    folder = tmp_path / "docs"
    folder.mkdir()
    file = folder / "a.txt"
    file.write_text(TEXT)
    index = tmp_path / "index"
    build(
        [folder],
        index,
        Settings(embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False)),
        embedder=embedder,
    )

    def ask():
        with open_snapshot(index) as snapshot:
            found = search(snapshot, embedder, "how long is the warranty?", SearchSettings(limit=1))
            return found[0], freshen(snapshot, found)[0]

    return file, ask


def test_an_unchanged_file_is_fresh(built):
    _, ask = built
    before, after = ask()
    assert after == before


def test_a_touched_file_is_fresh(built):
    file, ask = built
    os.utime(file, (1, 1))
    before, after = ask()
    assert after == before


def test_a_passage_that_moved_is_found_again(built):
    file, ask = built
    file.write_text("New first line, and more.\n\n" + TEXT)
    before, after = ask()
    now = file.read_text()
    assert (after.stale, after.note, after.text) == (True, MOVED, before.text)
    assert now[after.start : after.end] == before.text
    assert after.location.line == before.location.line + 2
    assert [now[mark.start : mark.end] for mark in after.highlights] == [
        TEXT[mark.start : mark.end] for mark in before.highlights
    ]


def test_of_several_places_the_nearest_is_taken(built):
    file, ask = built
    before, _ = ask()
    file.write_text(before.text + "\n\n" + "x " * 200 + "\n\n" + before.text)
    _, after = ask()
    assert after.start == 0


def test_a_passage_that_is_no_more_is_shown_as_it_was(built):
    file, ask = built
    file.write_text("All is new.\n")
    before, after = ask()
    assert (after.stale, after.note) == (True, LOST)
    assert (after.text, after.start, after.location) == (before.text, before.start, before.location)


def test_a_file_that_is_gone_is_said(built):
    file, ask = built
    file.unlink()
    before, after = ask()
    assert (after.stale, after.note, after.text) == (True, GONE, before.text)
