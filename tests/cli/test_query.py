from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime

import pytest

from rag_index.cli.app import main

QUESTION = "warranty on a repaired pump"


def query(*arguments: str) -> int:
    return main(["query", "--index", "docs", *arguments])


def test_passages_with_place_score_and_marks(indexed, capsys) -> None:
    assert query(QUESTION, "-n", "1") == 0
    first, *passage = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"docs/guide\.md:\d+  Pump guide( > Warranty)?  0\.\d\d", first)
    assert any("A [[repaired]] [[pump]] has a [[warranty]] of twelve months." in line for line in passage)
    assert all(line.startswith("  ") for line in passage if line)


def test_the_json_keeps_the_contract(indexed, capsys) -> None:
    assert query(QUESTION, "-n", "1", "--passages", "chunk", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["query"], shown["mode"]) == (QUESTION, "hybrid")
    (hit,) = shown["hits"]
    assert {"rank", "score", "path", "start", "end", "text", "highlights", "location", "chunks", "also"} <= hit.keys()
    text = (indexed / hit["path"]).read_text()
    assert text[hit["start"] : hit["end"]] == hit["text"]
    assert "twelve months" in hit["text"]
    assert 0 < hit["score"] <= 1
    assert hit["highlights"]
    assert {text[mark["start"] : mark["end"]].lower() for mark in hit["highlights"]} <= {
        "warranty",
        "repaired",
        "repair",
        "pump",
        "a",
        "on",
    }
    assert {"label", "page", "line", "end_line", "heading", "link"} <= hit["location"].keys()
    assert text.splitlines()[hit["location"]["line"] - 1] in hit["text"]
    assert hit["also"] == []


def test_one_hit_a_line(indexed, capsys) -> None:
    query(QUESTION, "--json")
    whole = json.loads(capsys.readouterr().out)["hits"]
    assert query(QUESTION, "--jsonl") == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == whole


def test_the_words_of_a_question_need_no_quotes(indexed, capsys) -> None:
    query(QUESTION, "--json")
    quoted = capsys.readouterr().out
    assert query(*QUESTION.split(), "--json") == 0
    assert capsys.readouterr().out == quoted


def test_after_the_double_dash_a_question_may_begin_with_a_dash(indexed, capsys) -> None:
    assert query("--json", "--", "--noise") == 0
    assert json.loads(capsys.readouterr().out)["query"] == "--noise"


def test_only_documents_of_the_paths_answer(indexed, capsys) -> None:
    assert query(QUESTION, "--path", "fr/**", "--json") == 0
    assert {hit["path"] for hit in json.loads(capsys.readouterr().out)["hits"]} == {"fr/garantie.md"}


def test_weak_passages_are_left_out(indexed, capsys) -> None:
    assert query(QUESTION, "--min-score", "0.999") == 0
    assert capsys.readouterr() == ("", "no passages found\n")


def test_paths_can_be_opened_from_where_one_stands(indexed, monkeypatch, capsys) -> None:
    monkeypatch.chdir(indexed / "fr")
    assert main(["query", "garantie", "-n", "1"]) == 0
    assert capsys.readouterr().out.startswith("garantie.md:")
    assert main(["query", "warranty", "-n", "1"]) == 0
    assert capsys.readouterr().out.startswith("../guide.md:")


def test_the_same_text_elsewhere_is_said_once(docs, capsys) -> None:
    (docs / "copy.md").write_bytes((docs / "guide.md").read_bytes())
    main(["build", "docs", "--model", "hash", "-q"])
    assert query(QUESTION, "-n", "1") == 0
    assert re.search(r"the same text: docs/(copy|guide)\.md", capsys.readouterr().out)


def test_what_a_document_holds_cant_drive_the_terminal(docs, capsys) -> None:
    (docs / "evil.txt").write_text("warranty \x1b]0;owned\x07 void\n")
    main(["build", "docs/evil.txt", "--index", "docs/.rag-index", "--model", "hash", "-q"])
    assert query("warranty void") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b]0;owned\\x07" in out


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        pytest.param(
            ["pump", "--mode", "sparse"], 2, "search.mode: unknown value 'sparse'", "Choose one of: ", id="mode"
        ),
        pytest.param(
            ["pump", "-n", "0"], 2, "search.limit is 0 but must be at least 1", "Raise search.limit.", id="limit"
        ),
        pytest.param([" "], 2, "", "", id="blank"),
        pytest.param([], 2, "missing argument 'TEXT...'", "See `rag-index query --help`.", id="nothing"),
    ],
)
def test_a_wrong_question_is_an_error_with_a_hint(indexed, arguments, code, error, hint, capsys) -> None:
    assert query(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {error}")
    assert f"hint: {hint}" in err


def test_no_index_is_exit_code_3(docs, capsys) -> None:
    assert main(["query", "pump", "--json"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert json.loads(err)["hint"] == "Run: rag-index build PATH"


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (["--type", "markdown"], {"guide.md", "fr/garantie.md"}),
        (["--type", "pdf"], set()),
        (["--type", "pdf", "--type", "markdown", "--path", "fr/**"], {"fr/garantie.md"}),
        (["--heading", "garantie"], {"fr/garantie.md"}),
        (["--heading", "pump guide"], {"guide.md"}),
        (["--heading", "noise"], {"guide.md"}),
        (["--meta", "author=Kim"], set()),
        (["--since", "2001-02-03"], {"guide.md", "fr/garantie.md"}),
        (["--since", "2001-02-03T04:05:06Z"], {"guide.md", "fr/garantie.md"}),
        (["--since", "2999-01-01"], set()),
    ],
    ids=" ".join,
)
def test_filters_leave_only_what_fits(indexed, options, paths, capsys) -> None:
    assert query("pump garantie", "--passages", "chunk", *options, "--json") == 0
    assert {hit["path"] for hit in json.loads(capsys.readouterr().out)["hits"]} == paths


def test_since_is_a_day_or_a_moment_in_any_zone(docs, capsys) -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    os.utime(docs / "guide.md", (noon.timestamp(), noon.timestamp()))
    os.utime(docs / "fr" / "garantie.md", (0, 0))
    assert main(["build", "docs", "--model", "hash", "-q"]) == 0
    table = {
        "2026-01-30": 1,
        "2026-01-31T12:00Z": 1,
        "2026-01-31T21:00+09:00": 1,
        noon.astimezone().replace(tzinfo=None).isoformat(): 1,
        "2026-01-31T12:00:01Z": 0,
        "2026-02-02": 0,
    }
    found = {}
    for since in table:
        assert query("pump garantie", "--passages", "chunk", "--since", since, "--json") == 0
        found[since] = len(json.loads(capsys.readouterr().out)["hits"])
    assert found == table


@pytest.mark.parametrize(
    ("options", "error", "hint"),
    [
        (["--since", "lately"], "--since is 'lately' but must be a date", "Write --since 2026-01-31."),
        (["--meta", "author"], "--meta is 'author' but must be NAME=VALUE", "Write --meta author=Kim."),
    ],
    ids=["since", "meta"],
)
def test_a_filter_that_cant_be_read_is_an_error_with_a_hint(indexed, options, error, hint, capsys) -> None:
    assert query("pump", *options) == 2
    assert capsys.readouterr() == ("", f"error: {error}\nhint: {hint}\n")
