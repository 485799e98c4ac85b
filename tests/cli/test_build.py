from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from rag_index.cli.app import main

FLAGS = ["--model", "hash", "--size", "120", "--overlap", "30"]


def build(*arguments: str) -> int:
    return main(["build", *arguments, *FLAGS])


def without_times(text: str) -> str:
    text = re.sub(r"time +[\d.]+ s", "time       <seconds> s", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "<date>", text)


def test_what_a_build_did(docs, snapshot, capsys) -> None:
    assert build("docs") == 0
    snapshot(without_times(capsys.readouterr().out), "build.txt")


def test_the_json_keeps_the_contract(docs, capsys) -> None:
    assert build("docs", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    contract = {
        "index": "docs/.rag-index",
        "files": {"seen": 3, "indexed": 2, "unchanged": 0, "removed": 0, "skipped": 1},
        "chunks": {"live": 5, "added": 5, "removed": 0},
        "embedded": 5,
        "reused": 0,
        "tokens": {"seen": 72, "embedded": 72, "cut": 0, "unknown": 0},
        "skipped": [{"path": "empty.txt", "status": "empty", "reason": "the file has no bytes"}],
        "model": "hash",
        "engine": "hash",
    }
    assert {name: shown[name] for name in contract} == contract
    assert shown["seconds"] >= 0


def test_a_second_build_embeds_nothing(indexed, capsys) -> None:
    assert build("docs", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["embedded"], shown["files"]["unchanged"]) == (0, 2)


def test_the_index_of_one_folder_is_in_it(docs) -> None:
    build("docs")
    assert (docs / ".rag-index" / "current").exists()


def test_the_index_of_several_paths_is_in_the_current_folder(docs, capsys) -> None:
    assert build("docs/guide.md", "docs/fr") == 0
    assert Path(".rag-index/current").exists()
    assert "indexed 2 of 2 files" in capsys.readouterr().out


def test_a_variable_names_the_index(docs, monkeypatch) -> None:
    monkeypatch.setenv("RAG_INDEX_DIR", "elsewhere")
    assert build("docs") == 0
    assert Path("elsewhere/current").exists()
    assert main(["status"]) == 0


def test_without_paths_the_index_at_hand_is_brought_up_to_date(indexed, monkeypatch, capsys) -> None:
    (indexed / "fr" / "new.md").write_text("Nouveau.\n")
    monkeypatch.chdir(indexed / "fr")
    assert build("--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["files"]["indexed"], shown["files"]["unchanged"]) == (1, 2)


def test_without_paths_and_index_the_current_folder_is_indexed(docs, monkeypatch) -> None:
    monkeypatch.chdir(docs)
    assert build() == 0
    assert Path(".rag-index/current").exists()


def test_settings_that_change_are_said_before_everything_is_made_anew(indexed, capsys) -> None:
    assert main(["build", "docs", "--model", "hash", "--size", "90", "--overlap", "30"]) == 0
    assert capsys.readouterr().err == "chunk.size changes from 120 to 90\n"


def test_quiet_says_nothing(indexed, capsys) -> None:
    assert main(["build", "docs", "--model", "hash", "--quiet"]) == 0
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


def test_strict_is_exit_code_4_where_a_file_gives_no_text(docs, capsys) -> None:
    assert build("docs", "--strict") == 4
    error = "error: 1 file is not searchable: empty.txt (empty)\nhint: See `rag-index status`.\n"
    assert capsys.readouterr().err == error


def test_strict_takes_no_offence_at_files_that_are_left_out_on_purpose(docs) -> None:
    (docs / "empty.txt").unlink()
    (docs / ".hidden.md").write_text("Hidden.\n")
    (docs / ".gitignore").write_text("*.log\n")
    (docs / "a.log").write_text("Ignored.\n")
    assert build("docs", "--strict") == 0


def test_a_file_that_cant_be_read_is_named_and_the_others_are_indexed(docs, capsys) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (docs / "secret.md").write_text("Secret.\n")
    (docs / "secret.md").chmod(0)
    assert build("docs") == 0
    assert re.search(r"unreadable +secret\.md: ", capsys.readouterr().out)


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
    assert err.startswith("error: ")
    assert "hint: " in err
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


def test_status_tells_what_there_is(indexed, snapshot, capsys) -> None:
    (indexed / "guide.md").write_text("Changed.\n")
    (indexed / "fr" / "garantie.md").unlink()
    assert main(["status", "--index", "docs"]) == 0
    text = re.sub(r"size .*", "size       <bytes>", without_times(capsys.readouterr().out))
    snapshot(text, "status.txt", replace={str(indexed.parent): "<folder>"})


def test_status_as_json(indexed, capsys) -> None:
    assert main(["status", "--index", "docs", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["documents"]["by_status"] == {"empty": 1, "ok": 2}
    assert shown["documents"]["by_format"] == {"markdown": 2}
    assert [(row["language"], row["documents"], row["known"]) for row in shown["languages"]][0] == ("en", 1, True)
    assert shown["chunker"]["size"] == 120
    assert shown["bytes"]["all"] == sum(
        file.stat().st_size for file in indexed.rglob(".rag-index/**/*") if file.is_file()
    )
    assert [each["path"] for each in shown["not_searchable"]] == ["empty.txt"]
    assert shown["changed"] == []


def test_no_index_is_exit_code_3(docs, capsys) -> None:
    assert main(["status"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"error: there is no index in .* or above it\nhint: Run: rag-index build PATH\n", err)


def test_a_damaged_index_is_exit_code_3(indexed, capsys) -> None:
    for file in (indexed / ".rag-index").rglob("index.sqlite*"):
        file.write_bytes(b"not a database")
    assert main(["status", "--index", "docs"]) == 3
    assert capsys.readouterr().err.startswith("error: ")


def test_a_copied_index_answers_where_it_is(indexed, capsys) -> None:
    shutil.copytree(indexed, "copy")
    shutil.rmtree(indexed)
    assert main(["status", "--index", "copy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["root"].endswith("/copy")
