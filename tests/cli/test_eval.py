from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from rag_index.cli.app import main

GRID = ["--sizes", "80,160", "--overlaps", "0,0.25"]
QUESTIONS = [
    (
        "q1",
        "How long is the warranty of a repaired pump?",
        "guide.md",
        "A repaired pump has a warranty of twelve months.",
    ),
    ("q2", "What does a pump that rattles have?", "guide.md", "A pump that rattles has a loose impeller"),
    ("q3", "Combien dure la garantie ?", "fr/garantie.md", "Une pompe réparée est garantie douze mois."),
]


@pytest.fixture
def asked(docs) -> Path:
    """Three questions about the documents; the cache of this run is shared, as a user's is."""
    lines = [
        json.dumps({"id": id_, "question": question, "refs": [{"doc": doc, "text": text}], "tags": [doc]})
        for id_, question, doc, text in QUESTIONS
    ]
    file = docs.parent / "questions.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def evaluate(*arguments: str) -> int:
    return main(["eval", "questions.jsonl", "--docs", "docs", "--model", "hash", *arguments])


def shape(text: str) -> str:
    """Leave out what ranking and the clock decide."""
    text = re.sub(r"\d[\d,]* (?=texts|known)", "# ", text)
    text = re.sub(r"\d+\.\d(?= %| s|\)|$| )", "#", text, flags=re.MULTILINE)
    return re.sub(r" +", " ", text)


def test_table_and_verdict(asked, snapshot, capsys) -> None:
    assert evaluate("--sizes", "160", "--overlaps", "0.25") == 0
    shown = capsys.readouterr()
    snapshot(shape(shown.out), "eval.txt")
    assert "warning: 3 questions are few" in shown.err


def test_the_json_is_one_object_with_the_verdict(asked, capsys) -> None:
    assert evaluate(*GRID, "--json", "--quiet") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["questions"], shown["documents"]) == (3, 2)
    assert len(shown["configurations"]) == 4
    assert shown["verdict"]["recommended"] in [entry["name"] for entry in shown["configurations"]]
    assert shown["checks"] == []


def test_the_files_that_were_asked_for(asked, capsys) -> None:
    assert evaluate(*GRID, "--html", "out/r.html", "--csv", "out/r.csv", "--png", "out", "--save", "out/run.json") == 0
    assert {path.name for path in Path("out").iterdir()} == {
        "r.html",
        "r.csv",
        "run.json",
        "curves.png",
        "heat.png",
        "costs.png",
    }
    assert Path("out/r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert len(Path("out/r.csv").read_text(encoding="utf-8").splitlines()) == 5


def test_the_recommended_settings_are_written(asked) -> None:
    assert evaluate(*GRID, "--write", "rag-index.toml") == 0
    assert tomllib.loads(Path("rag-index.toml").read_text(encoding="utf-8"))["chunk"]["size"] in {80, 160}


def test_a_table_of_the_settings_file_is_a_grid(asked, capsys) -> None:
    Path("docs/rag-index.toml").write_text('[sweep]\nsizes = [80]\noverlaps = [0]\nmodes = ["dense", "keyword"]\n')
    assert evaluate("--json", "--quiet") == 0
    names = [entry["name"] for entry in json.loads(capsys.readouterr().out)["configurations"]]
    assert names == ["character 80/0 dense", "character 80/0 keyword"]


@pytest.mark.parametrize(("floor", "code", "word"), [("0", 0, "pass"), ("1", 1, "fail")])
def test_a_floor_decides_the_exit_code(asked, capsys, floor, code, word) -> None:
    assert (
        evaluate("--sizes", "160", "--budgets", "20", "--metric", "recall@20", "--fail-under", f"recall@20={floor}")
        == code
    )
    assert f"\n{word} character 160/32: recall@20" in capsys.readouterr().out


def test_a_run_is_its_own_baseline(asked, capsys) -> None:
    assert evaluate(*GRID, "--save", "run.json") == 0
    assert evaluate(*GRID, "--baseline", "run.json") == 0
    assert "against the baseline on 3 questions: not told apart" in capsys.readouterr().out


def test_without_docs_the_index_at_hand_is_asked(asked, capsys, monkeypatch) -> None:
    assert main(["build", "docs", "--model", "hash", "--size", "120", "--overlap", "30", "--quiet"]) == 0
    monkeypatch.chdir("docs")
    assert main(["eval", "../questions.jsonl", "--json", "--quiet"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["configurations"]
    assert (entry["name"], entry["settings"]["model"]) == ("character 120/30", "hash")
    assert main(["eval", "../questions.jsonl", "--sizes", "60,120", "--overlaps", "30", "--json", "--quiet"]) == 0
    assert len(json.loads(capsys.readouterr().out)["configurations"]) == 2


def test_squad_brings_its_documents(docs, capsys) -> None:
    context = "The pump is red and has a valve. " * 9
    answers = [{"text": "red", "answer_start": 12}]
    paragraph = {"context": context, "qas": [{"id": "1", "question": "What colour is the pump?", "answers": answers}]}
    Path("squad.json").write_text(json.dumps({"data": [{"title": "T", "paragraphs": [paragraph]}]}))
    assert main(["eval", "squad.json", "--model", "hash", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 1


def test_questions_are_made_from_documents(docs, capsys) -> None:
    assert main(["eval", "make-questions", "--docs", "docs", "--count", "2"]) == 0
    shown = capsys.readouterr()
    assert len([json.loads(line) for line in shown.out.splitlines()]) == 2
    assert "flatter keyword search" in shown.err
    Path("made.jsonl").write_text(shown.out, encoding="utf-8")
    assert main(["eval", "made.jsonl", "--docs", "docs", "--model", "hash"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.jsonl", "--docs", "docs"], "can't read none.jsonl"),
        (["questions.jsonl", "--docs", "none"], "none"),
        (["questions.jsonl", "--docs", "docs", "--sizes", "x"], "sizes: 'x' is no whole number"),
        (["questions.jsonl", "--docs", "docs", "--sizes", "100", "--overlaps", "100"], "no configuration is left"),
        (["questions.jsonl", "--docs", "docs", "--chunkers", "carácter"], "unknown chunker"),
        (["questions.jsonl", "--docs", "docs", "--budgets", "0"], "budget is 0"),
        (["questions.jsonl", "--docs", "docs", "--metric", "recal@k"], "unknown metric"),
        (["questions.jsonl", "--docs", "docs", "--fail-under", "x"], "is no floor"),
        (["questions.jsonl", "--docs", "docs", "--jobs", "0"], "jobs is 0"),
        (["questions.jsonl", "--docs", "docs", "--baseline", "none.json"], "can't read none.json"),
        (["questions.jsonl", "--docs", "docs", "--html", "docs"], "can't write docs"),
    ],
)
def test_what_can_not_be_meant_is_a_usage_error(asked, capsys, arguments, words) -> None:
    assert main(["eval", *arguments, "--model", "hash"]) == 2
    assert words in capsys.readouterr().err


def test_without_docs_and_without_an_index_there_is_nothing_to_ask(asked, capsys) -> None:
    assert main(["eval", "questions.jsonl"]) == 3
