from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rag_index.cli.app import main
from rag_index.cli.indexing import what_and_where
from rag_index.cli.render_index import show_build
from rag_index.pipeline import BuildReport
from rag_index.pipeline.report import ChunkCounts, FileCounts, Skipped
from rag_index.types import Ledger

FLAGS = ["--model", "hash", "--size", "120", "--overlap", "30", "--workers", "1"]


def build(*arguments: str) -> int:
    return main(["build", *arguments, *FLAGS])


REPORT = BuildReport(
    index="docs/.rag-index",
    files=FileCounts(seen=1_240, indexed=1_201, unchanged=12, removed=3, skipped=27),
    chunks=ChunkCounts(live=9_000, added=8_100, removed=70),
    embedded=7_900,
    reused=200,
    tokens=Ledger(1_000_000, 999_990, 10, 5),
    skipped=[Skipped(f"scans/{number}.pdf", "no_text", "no text \x1b[31mlayer") for number in range(25)],
    model="sentence-transformers/all-MiniLM-L6-v2",
    engine="openvino",
    seconds=61.26,
)


@pytest.mark.parametrize("dry_run", [False, True], ids=["build", "dry run"])
def test_what_a_build_did(dry_run, snapshot, capsys) -> None:
    show_build(REPORT, dry_run=dry_run, as_json=False, quiet=False)
    snapshot(capsys.readouterr().out, "dry_run.txt" if dry_run else "build.txt")


def test_the_json_keeps_the_contract(built) -> None:
    folder, shown = built
    contract = {
        "index": str(folder / ".rag-index"),
        "files": {"seen": 3, "indexed": 2, "unchanged": 0, "removed": 0, "skipped": 1},
        "skipped": [{"path": "empty.txt", "status": "empty", "reason": "the file has no bytes"}],
        "reused": 0,
        "model": "hash",
        "engine": "hash",
    }
    assert {name: shown[name] for name in contract} == contract
    assert shown["chunks"] == {"live": shown["embedded"], "added": shown["embedded"], "removed": 0}
    assert shown["tokens"] == {
        "seen": shown["tokens"]["embedded"],
        "embedded": shown["tokens"]["embedded"],
        "cut": 0,
        "unknown": 0,
    }
    assert shown["embedded"] > 2
    assert shown["seconds"] > 0


def test_without_paths_the_index_at_hand_is_brought_up_to_date(indexed, monkeypatch, capsys) -> None:
    (indexed / "fr" / "new.md").write_text("Nouveau.\n")
    monkeypatch.chdir(indexed / "fr")
    assert build("--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["files"]["indexed"], shown["files"]["unchanged"], shown["embedded"]) == (1, 2, 1)


def test_no_text_is_embedded_again_for_another_index(docs, capsys) -> None:
    assert build("docs", "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert build("docs", "--index", "other", "--json") == 0
    second = json.loads(capsys.readouterr().out)
    assert (second["embedded"], second["reused"]) == (0, first["embedded"])
    assert main(["build", "docs", "--index", "third", *FLAGS, "--chunker", "sentence", "--json"]) == 0
    third = json.loads(capsys.readouterr().out)
    assert third["embedded"] + third["reused"] == third["chunks"]["live"]
    assert third["reused"] > 0


def test_settings_that_change_are_said_before_everything_is_made_anew(indexed, capsys) -> None:
    assert main(["build", "docs", "--model", "hash", "--size", "90", "--overlap", "30", "--dry-run"]) == 0
    assert capsys.readouterr().err == "chunk.size changes from 120 to 90\n"


def test_quiet_says_nothing(indexed, capsys) -> None:
    assert build("docs", "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of an index, SQLite's notes about its readers left out."""
    files = [file for file in (folder / ".rag-index").rglob("*") if file.is_file()]
    return {str(file): file.read_bytes() for file in files if not file.name.endswith(("-shm", "-wal"))}


def test_a_dry_run_changes_nothing(indexed, capsys) -> None:
    before = contents(indexed)
    (indexed / "new.md").write_text("New.\n")
    assert build("docs", "--dry-run") == 0
    assert "would index 1 of 4 files" in capsys.readouterr().out
    assert contents(indexed) == before


def test_strict_is_exit_code_4_where_a_file_gives_no_text(indexed, capsys) -> None:
    assert build("docs", "--strict") == 4
    error = "error: 1 file is not searchable: empty.txt (empty)\nhint: See `rag-index status`.\n"
    assert capsys.readouterr().err == error


def test_strict_takes_no_offence_at_files_that_are_left_out_on_purpose(indexed) -> None:
    (indexed / "empty.txt").unlink()
    (indexed / ".hidden.md").write_text("Hidden.\n")
    (indexed / ".gitignore").write_text("*.log\n")
    (indexed / "a.log").write_text("Ignored.\n")
    assert build("docs", "--strict") == 0


def test_a_file_that_cant_be_read_is_named_and_the_others_are_indexed(indexed, capsys) -> None:
    (indexed / "gone.md").symlink_to("nowhere.md")
    assert build("docs") == 0
    assert re.search(r"(unreadable|skipped) +gone\.md: ", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("paths", "named", "variable", "expected"),
    [
        pytest.param(["docs"], None, "", "docs/.rag-index", id="one folder: in it"),
        pytest.param(["docs/guide.md"], None, "", ".rag-index", id="a file: here"),
        pytest.param(["docs", "docs/fr"], None, "", ".rag-index", id="several: here"),
        pytest.param([], None, "", ".rag-index", id="nothing said: this folder, here"),
        pytest.param(["docs"], "x", "y", "x", id="a flag"),
        pytest.param(["docs"], None, "y", "y", id="a variable"),
    ],
)
def test_where_a_new_index_is_made(docs, paths, named, variable, expected, monkeypatch) -> None:
    monkeypatch.setenv("RAG_INDEX_DIR", variable)
    given, index = what_and_where([Path(path) for path in paths], Path(named) if named else None)
    assert index == Path(expected)
    assert given == ([Path(path) for path in paths] or [Path()])


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        pytest.param(["nowhere"], 2, "there is no nowhere", "Check the path.", id="path"),
        pytest.param(
            ["docs", "--chunker", "sentense"], 2, "unknown chunker 'sentense'", "Did you mean 'sentence'?", id="name"
        ),
        pytest.param(
            ["docs", "--overlap", "120"],
            2,
            "overlap is 120 but must be from 0 to size - 1 (119)",
            "Lower --overlap or raise --size.",
            id="overlap",
        ),
        pytest.param(
            ["docs", "--config", "no.toml"],
            2,
            "can't read no.toml: No such file or directory",
            "Check --config.",
            id="config",
        ),
    ],
)
def test_a_wrong_request_is_an_error_before_anything_is_made(docs, arguments, code, error, hint, capsys) -> None:
    assert main(["build", *FLAGS, *arguments]) == code
    assert capsys.readouterr() == ("", f"error: {error}\nhint: {hint}\n")
    assert not list(docs.glob(".rag-index*"))


def test_an_empty_folder_is_an_error(tmp_path, capsys) -> None:
    assert main(["build", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"error: .+\nhint: .+\n", err)
    assert not list(tmp_path.iterdir())


def test_a_model_that_cant_be_loaded_is_an_error_with_a_hint(docs, capsys) -> None:
    assert main(["build", "docs", "--model", "./no-such-model"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"error: .*no-such-model.*\nhint: .+\n", err)


def test_a_locked_index_is_exit_code_5(indexed, capsys) -> None:
    from rag_index.store import Layout, WriterLock

    with WriterLock(Layout(indexed / ".rag-index").lock):
        (indexed / "new.md").write_text("New.\n")
        assert build("docs") == 5
    assert re.match(r"error: .*\nhint: .+\n", capsys.readouterr().err)
