from __future__ import annotations

import json
import re

import pytest

from rag_index.cli.app import main

QUESTION = "warranty on a repaired pump"


def why(*arguments: str) -> int:
    return main(["why", "--index", "docs", *arguments])


@pytest.mark.parametrize(
    ("arguments", "stage", "said"),
    [
        pytest.param([QUESTION, "guide.md:7"], "found", r"found: passage 1; its chunk is ranked 1st by .*", id="found"),
        pytest.param([QUESTION, "guide.md"], "found", r"found: passage 1; .*", id="a whole document"),
        pytest.param([QUESTION, "empty.txt"], "not extracted", r"empty\.txt could not be read: empty.*", id="empty"),
        pytest.param([QUESTION, "none.md:3"], "not indexed", r"none\.md is not in the index", id="unknown"),
        pytest.param(
            [QUESTION, "garantie"], "not indexed", r"garantie is not in the index; fr/garantie\.md is", id="nearly"
        ),
        pytest.param(
            [QUESTION, "guide.md:7", "--path", "fr/**"], "filtered", r"the filter leaves guide\.md out", id="filtered"
        ),
        pytest.param(
            [QUESTION, "guide.md:7", "--type", "pdf"], "filtered", r"the filter leaves guide\.md out", id="format"
        ),
        pytest.param(
            [QUESTION, "fr/garantie.md:3", "-n", "1"],
            "outranked",
            r"ranked .* by dense and .* by keyword; the 1 passages returned score higher",
            id="outranked",
        ),
        pytest.param(
            ["submarine", "guide.md:7", "--mode", "keyword"],
            "not matched",
            r"neither side ranks it among the first 2,000",
            id="not matched",
        ),
    ],
)
def test_the_stage_that_lost_a_place_is_named(indexed, arguments, stage, said, capsys) -> None:
    assert why(*arguments) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(said + "\n", out)
    assert err == ""
    assert why(*arguments, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["stage"], shown["reason"]) == (stage, out.rstrip("\n"))


def test_the_json_gives_place_and_ranks(indexed, capsys) -> None:
    assert why(QUESTION, "guide.md:7", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {
        "query": QUESTION,
        "path": "guide.md",
        "line": 7,
        "stage": "found",
        "reason": shown["reason"],
        "passage": 1,
        "dense": 1,
        "keyword": 1,
    }
    assert why(QUESTION, "none.md", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [shown[name] for name in ("line", "passage", "dense", "keyword")] == [None] * 4


def test_a_place_is_named_as_query_prints_it(indexed, monkeypatch, capsys) -> None:
    assert main(["query", QUESTION, "-n", "1", "--index", "docs"]) == 0
    place = capsys.readouterr().out.split()[0]
    assert place.startswith("docs/guide.md:")
    assert why(QUESTION, place, "--json") == 0
    assert json.loads(capsys.readouterr().out)["stage"] == "found"
    assert main(["why", QUESTION, place]) == 0
    assert capsys.readouterr().out.startswith("found: ")
    monkeypatch.chdir(indexed / "fr")
    assert main(["why", "garantie", "garantie.md:3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stage"] == "found"


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        pytest.param([" ", "guide.md"], 2, "error: the question is empty\nhint: Ask something.\n", id="blank"),
        pytest.param(
            ["pump", "guide.md:99"],
            2,
            "error: guide.md has 12 lines, no line 99\nhint: Name a line that is there.\n",
            id="line",
        ),
        pytest.param(["pump", "guide.md:0"], 2, "error: guide.md has ", id="line 0"),
        pytest.param(["pump"], 2, "error: missing argument 'PATH[:LINE]'\n", id="no place"),
    ],
)
def test_what_cant_be_asked_is_an_error_with_a_hint(indexed, arguments, code, error, capsys) -> None:
    assert why(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(error)
    assert "hint: " in err


def test_no_index_is_exit_code_3(docs, capsys) -> None:
    assert main(["why", "pump", "guide.md"]) == 3
    assert "hint: Run: rag-index build PATH" in capsys.readouterr().err
