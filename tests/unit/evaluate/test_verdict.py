"""What is said about a run, and whether it passes."""

from __future__ import annotations

import json
import re

import pytest

from rag_index.errors import UnknownNameError, UsageError
from rag_index.evaluate.gate import check_baseline, check_floors, read_floors, to_dict
from rag_index.evaluate.run import Result, load_run
from rag_index.evaluate.verdict import condensed, judge
from rag_index.types import Warn
from tests.unit.evaluate.runs import MEASURE, run_of


def test_a_clear_winner_is_named():
    verdict = judge(run_of([0.4, 0.9, 0.5]), "recall@3000")
    assert verdict.decided
    assert (verdict.best, verdict.recommended) == (1, 1)
    assert verdict.sentences[0].startswith("Take character 200/50: recall@3000 ")
    assert "the best of 3 in 100% of resamples of the 60 questions" in verdict.sentences[1]
    assert [standing.contender for standing in verdict.standings] == [False, True, False]


def test_configurations_that_can_not_be_told_apart_are_said_to_be_and_the_cheapest_is_taken():
    verdict = judge(run_of([0.80, 0.84, 0.80, 0.2], luck=0.3), "recall@3000")
    assert not verdict.decided
    assert verdict.recommended == 2  # fewer bytes than 0 and 1
    assert verdict.sentences[0] == "3 of 4 configurations can't be told apart by 60 questions; the other is worse."
    assert verdict.sentences[2].endswith("98 chunks. Take that one.")
    assert re.fullmatch(r"About [\d,]+ more questions would tell character 200/50 from .*\.", verdict.sentences[3])


def test_a_difference_that_no_number_of_questions_would_show_is_said_to_be_one():
    verdict = judge(run_of([0.8, 0.79], questions=400, luck=0.9), "recall@3000")
    assert verdict.sentences[-1].startswith("No number of questions that one would write tells")


def test_equal_configurations_are_said_to_be_equal():
    verdict = judge(run_of([0.7, 0.7]), "recall@3000")
    assert verdict.recommended == 1
    assert verdict.sentences[-1].endswith("answer every question equally well.")


def test_one_configuration_has_nothing_to_be_compared_with():
    verdict = judge(run_of([0.7]), "recall@3000")
    assert not verdict.decided
    assert verdict.sentences[1] == "There is nothing to compare it with."


def test_an_unknown_metric_gets_the_nearest_name():
    with pytest.raises(UnknownNameError) as caught:
        judge(run_of([0.7]), "recall@300")
    assert caught.value.hint == "Did you mean 'recall@3000'?"


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"questions": 1}, "few_questions", "1 question: no interval means anything"),
        ({"questions": 12}, "few_questions", "12 questions are few"),
        ({"costs": {"single": 0.8}}, "one_chunk", "80% of the documents are one chunk"),
        ({"costs": {"held_back": 7}}, "held_back", "there are 7 more than the size gives"),
        ({"unreachable": 2}, "gold_missing", "the answer of 2 of 60 questions is in no chunk"),
        ({"warnings": [Warn("moved", "line 3: found")]}, "moved", "line 3: found"),
    ],
)
def test_what_to_beware_of(changes, code, words):
    warnings = judge(run_of([0.7], **changes), "recall@3000").warnings
    assert [warning.code for warning in warnings] == [code]
    assert words in warnings[0].message


def test_many_warnings_of_one_kind_are_a_few_lines():
    many = [Warn("moved", f"line {n}") for n in range(9)]
    assert condensed([*many, Warn("other", "x")]) == [
        "line 0",
        "line 1",
        "line 2",
        "... and 6 more of this kind (--json has them all)",
        "x",
    ]
    assert condensed(many[:4]) == ["line 0", "line 1", "line 2", "line 3"]


def test_a_verdict_is_plain_data():
    plain = json.loads(json.dumps(judge(run_of([0.4, 0.9]), "recall@3000").to_dict()))
    assert (plain["decided"], plain["recommended"]) == (True, "character 200/50")
    assert plain["standings"][0]["behind"]["high"] < 0


def test_a_run_is_read_back_as_it_was_written(tmp_path):
    run = run_of([0.4, 0.9])
    run.save(tmp_path / "run.json")
    again = load_run(tmp_path / "run.json")
    assert again == run
    assert isinstance(again.results[0], Result)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not a saved run"),
        ('{"format": 0}', "a run of format 0, not 1"),
        ('{"format": 1}', "is not a saved run"),
    ],
)
def test_a_file_that_is_no_run_is_refused(tmp_path, content, words):
    (tmp_path / "run.json").write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        load_run(tmp_path / "run.json")


def test_a_run_that_is_not_there_or_can_not_be_written_is_refused(tmp_path):
    with pytest.raises(UsageError, match="can't read"):
        load_run(tmp_path / "none.json")
    with pytest.raises(UsageError, match="can't write"):
        run_of([0.5]).save(tmp_path)


def test_floors_pass_and_fail():
    run = run_of([0.5, 0.9])
    good, bad = check_floors(run, read_floors(["recall@3000=0.2", "mrr@k=0.99"], MEASURE), 1)
    assert good.passed
    assert not bad.passed
    assert "character 200/50: mrr@k" in bad.message
    assert to_dict([bad])[0]["passed"] is False


@pytest.mark.parametrize("text", ["recall@3000", "recall@3000=x", "recall@3000=1.5", "recall@3000=-1", "nothing=0.5"])
def test_a_floor_that_is_none_is_refused(text):
    with pytest.raises(UsageError):
        read_floors([text], MEASURE)


def test_a_significant_loss_against_the_baseline_fails(tmp_path):
    run_of([0.5, 0.9]).save(tmp_path / "run.json")
    same, lost = check_baseline(run_of([0.5, 0.6]), tmp_path / "run.json", "recall@3000")
    assert same.passed
    assert "not told apart" in same.message
    assert not lost.passed
    assert lost.message.endswith("on 60 questions: lost")


def test_a_gain_against_the_baseline_passes_and_new_questions_are_left_out(tmp_path):
    run_of([0.5], questions=40).save(tmp_path / "run.json")
    (check,) = check_baseline(run_of([0.9], questions=60), tmp_path / "run.json", "recall@3000")
    assert check.passed
    assert check.message.endswith("on 40 questions: gained")


def test_a_baseline_with_nothing_in_common_is_refused(tmp_path):
    from rag_index.evaluate.grid import Grid

    run_of([0.5], grid=Grid(sizes=(77,))).save(tmp_path / "run.json")
    with pytest.raises(UsageError, match="has no configuration in common"):
        check_baseline(run_of([0.5]), tmp_path / "run.json", "recall@3000")
