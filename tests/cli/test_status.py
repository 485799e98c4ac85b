from __future__ import annotations

import json
import re
import shutil

from rag_index.cli.app import main


def test_status_tells_what_there_is(indexed, snapshot, capsys) -> None:
    (indexed / "guide.md").write_text("Changed.\n")
    (indexed / "fr" / "garantie.md").unlink()
    assert main(["status", "--index", "docs"]) == 0
    text = re.sub(r"size .*", "size       <bytes>", capsys.readouterr().out)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "<date>", text)
    snapshot(text, "status.txt", replace={str(indexed.parent): "<folder>"})


def test_status_as_json(indexed, capsys) -> None:
    assert main(["status", "--index", "docs", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["documents"]["by_status"] == {"empty": 1, "ok": 2}
    assert shown["documents"]["by_format"] == {"markdown": 2}
    first = shown["languages"][0]
    assert (first["language"], first["documents"], first["known"]) == ("en", 1, True)
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


def test_a_variable_names_the_index(indexed, monkeypatch) -> None:
    monkeypatch.setenv("RAG_INDEX_DIR", "docs/.rag-index")
    assert main(["status"]) == 0


def test_a_copied_index_answers_where_it_is(indexed, capsys) -> None:
    shutil.copytree(indexed, "copy")
    shutil.rmtree(indexed)
    assert main(["status", "--index", "copy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["root"].endswith("/copy")
