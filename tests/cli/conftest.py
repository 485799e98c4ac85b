from __future__ import annotations

from pathlib import Path

import pytest

from rag_index.cli.app import main

GUIDE = """\
# Pump guide

Everything that a new owner asks.

## Warranty

A repaired pump has a warranty of twelve months.
It begins on the day of the repair.

## Noise

A pump that hums is fine. A pump that rattles has a loose impeller: switch it off and call us.
"""

FRENCH = "# Garantie\n\nUne pompe réparée est garantie douze mois.\n"


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two documents and one that gives no text; the current folder is the one above."""
    folder = tmp_path / "docs"
    (folder / "fr").mkdir(parents=True)
    (folder / "guide.md").write_text(GUIDE)
    (folder / "fr" / "garantie.md").write_text(FRENCH)
    (folder / "empty.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def indexed(docs: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The same folder, indexed with the hash model."""
    assert main(["build", "docs", "--model", "hash", "--size", "120", "--overlap", "30"]) == 0
    capsys.readouterr()
    return docs
