from __future__ import annotations

import contextlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

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


def write_documents(folder: Path) -> None:
    (folder / "fr").mkdir(parents=True)
    (folder / "guide.md").write_text(GUIDE)
    (folder / "fr" / "garantie.md").write_text(FRENCH)
    (folder / "empty.txt").write_text("")


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two documents and one that gives no text; the current folder is the one above."""
    write_documents(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The same folder, indexed with the hash model, and what the build printed; made once, not to be changed."""
    folder = tmp_path_factory.mktemp("built") / "docs"
    write_documents(folder)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["build", str(folder), "--model", "hash", "--size", "120", "--overlap", "30", "--json"]) == 0
    return folder, json.loads(out.getvalue())


@pytest.fixture
def indexed(built: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, `docs` in the current folder."""
    shutil.copytree(built[0], tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs"
