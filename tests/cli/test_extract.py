from __future__ import annotations

import json

from rag_index.cli.app import main


def test_the_text_comes_out_exactly(docs, capsys) -> None:
    (docs / "crlf.txt").write_bytes(b"one\r\ntwo \x1b[31m\r")
    assert main(["extract", "docs/crlf.txt"]) == 0
    assert capsys.readouterr() == ("one\r\ntwo \x1b[31m\r", "")


def test_the_json_keeps_the_contract(docs, capsys) -> None:
    (docs / "ligature.md").write_text("# Title\n\nThe \ufb01le.\n")
    assert main(["extract", "docs/ligature.md", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == [
        "path",
        "status",
        "reason",
        "text",
        "search_text",
        "format",
        "encoding",
        "blocks",
        "warnings",
        "meta",
    ]
    assert (shown["path"], shown["status"], shown["format"]) == ("docs/ligature.md", "ok", "markdown")
    assert (shown["text"], shown["search_text"]) == ("# Title\n\nThe \ufb01le.\n", "# Title\n\nThe file.\n")
    assert {"start": 0, "end": 7, "kind": "heading", "label": "Title", "role": "body"} in shown["blocks"]


def test_what_is_wrong_with_a_file_goes_to_stderr(docs, capsys) -> None:
    assert main(["extract", "docs/empty.txt"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("docs/empty.txt: empty: ")


def test_a_missing_file_is_an_error(docs, capsys) -> None:
    assert main(["extract", "docs/no.md"]) == 2
    assert capsys.readouterr() == ("", "error: no such file or folder: docs/no.md\nhint: Check the path.\n")


def test_a_file_that_ignore_rules_leave_out_is_shown_when_asked_for(docs, capsys) -> None:
    (docs / ".gitignore").write_text("*.log\n")
    (docs / ".hidden.log").write_text("found\n")
    assert main(["extract", "docs/.hidden.log"]) == 0
    assert capsys.readouterr() == ("found\n", "")


def test_warnings_go_to_stderr(docs, capsys) -> None:
    (docs / "old.txt").write_bytes("Pão à moda antiga, já não há melhor\n".encode("cp1252") * 40)
    assert main(["extract", "docs/old.txt", "--json"]) == 0
    out, err = capsys.readouterr()
    warnings = json.loads(out)["warnings"]
    assert warnings
    assert err.splitlines()[0].startswith(f"docs/old.txt: {warnings[0]['message']}")
