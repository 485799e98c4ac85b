"""From answers to values: repeats, alternatives, the perfect retriever and one that guesses."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.errors import UsageError
from rag_index.evaluate.axis import Axis
from rag_index.evaluate.labels import Question, Reference
from rag_index.evaluate.metrics import length, union
from rag_index.evaluate.scoring import Chunks, Measure, score_answers, score_chunks, uncovered
from rag_index.types import Passage, Place

LONG = "The valve must be closed before the pump is started again."
TEXTS = {"a": f"Intro. {LONG} Middle. {LONG} End.", "b": f"Other words here. {LONG}"}
FIRST = Place("a", 7, 7 + len(LONG))
SECOND = Place("a", 7 + len(LONG) + 9, 7 + 2 * len(LONG) + 9)
THIRD = Place("b", 18, 18 + len(LONG))


def passage(place: Place, *also: Place) -> Passage:
    return Passage(place.path, place.start, place.end, TEXTS[place.path][place.start : place.end], 1.0, also=also)


def ask(*places: Place, repeats: tuple[Place, ...] = ()) -> Question:
    return Question("q", "Question?", (Reference(places, repeats),))


def score(question, answers, axis, measure=None):
    """Score answers as if every budget were filled by as many of them as fit, the last one whole."""
    measure = measure or Measure()
    filling = []
    for budget in measure.budgets:
        sizes = accumulate(answer.end - answer.start for answer in answers)
        filling.append([answer for answer, read in zip(answers, sizes, strict=True) if read <= budget])
    return score_answers(question, answers[: measure.k], filling, axis, measure)


def test_a_repeated_sentence_stands_where_it_stood_first():
    axis = Axis(TEXTS)
    assert axis.net(FIRST) == axis.net(SECOND) == axis.net(THIRD) == [axis.plain(FIRST)]
    assert axis.repeated == 2 * len(LONG)
    assert axis.characters == sum(map(len, TEXTS.values()))


@given(st.text(alphabet="ab .\n", max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_the_axis_keeps_the_length_of_every_place(text, one, other):
    unit = "This sentence is long enough to be folded when it is there again. "
    whole = unit + text + unit + text
    start, end = sorted((one, other))
    axis = Axis({"x": "prefix", "y": whole})
    place = Place("y", start, min(end, len(whole)))
    assert length(axis.net(place)) == max(0, place.end - place.start)


def test_no_two_documents_touch():
    axis = Axis({"a": "ab", "b": "cd"})
    assert union([axis.plain(Place("a", 0, 2)), axis.plain(Place("b", 0, 2))]) == [(0, 2), (3, 5)]


def test_a_repeat_is_charged_once_net_and_twice_gross():
    values = score(ask(FIRST, repeats=(SECOND,)), [passage(FIRST), passage(SECOND)], Axis(TEXTS))
    assert (values["recall@k"], values["precision@k"], values["characters@k"]) == (1, 1, len(LONG))
    assert values["gross_precision@k"] == 0.5


def test_finding_the_repeat_is_finding_the_reference_but_not_in_the_published_accounting():
    values = score(ask(FIRST, repeats=(SECOND, THIRD)), [passage(THIRD)], Axis(TEXTS))
    assert values["recall@k"] == values["hit@k"] == values["recall@500"] == 1
    assert values["gross_recall@k"] == 0


def test_a_short_answer_whose_text_also_stands_where_the_label_is_counts_there():
    axis = Axis({"a": "x" * 10, "b": "x" * 10})
    answer = Passage("b", 0, 10, "x" * 10, 1.0, also=(Place("a", 0, 10),))
    assert score(ask(Place("a", 2, 6)), [answer], axis)["recall@k"] == 1


def test_of_alternatives_the_best_covered_counts():
    whole, half = Place("a", 0, 6), Place("b", 0, 10)
    question = ask(whole, half)
    assert score(question, [passage(Place("b", 0, 5))], Axis(TEXTS))["recall@k"] == 0.5
    assert score(question, [passage(whole)], Axis(TEXTS))["recall@k"] == 1


def test_nothing_returned_scores_0_in_all():
    values = score(ask(FIRST), [], Axis(TEXTS))
    assert set(values.values()) == {0}
    assert set(values) | {"omega", "gross_omega", "whole"} == set(Measure().names)


def test_the_first_k_answers_and_those_that_fill_a_budget_are_apart():
    answers = [passage(Place("b", 0, 17)), passage(FIRST)]
    values = score(ask(FIRST), answers, Axis(TEXTS), Measure(k=1, budgets=(20, 200)))
    assert (values["recall@k"], values["mrr@k"], values["recall@20"], values["recall@200"]) == (0, 0, 0, 1)


def test_the_chunks_alone_bound_what_can_be_reached():
    axis = Axis(TEXTS)
    chunks = Chunks(axis.plain(Place("a", at, at + 20)) for at in range(0, 120, 20))
    values = score_chunks(ask(Place("a", 0, 20)), chunks, axis)
    assert values == {"omega": 1.0, "gross_omega": 0.5, "whole": 1.0}
    assert score_chunks(ask(Place("a", 10, 30)), chunks, axis)["whole"] == 0
    assert not uncovered(ask(Place("a", 10, 30)), chunks, axis)
    assert uncovered(ask(Place("b", 0, 10)), chunks, axis)


def test_a_perfect_retriever_scores_1_and_a_shuffled_one_scores_at_chance():
    text = "".join(chr(0x4E00 + n % 997) for n in range(20_000))
    axis = Axis({"x": text})
    questions = [Question(str(n), "?", (Reference((Place("x", 100 * n, 100 * n + 100),)),)) for n in range(200)]
    chunks = [Passage("x", 100 * n, 100 * n + 100, "", 1.0) for n in range(200)]
    measure = Measure(k=5, budgets=(1000,))
    shuffle = random.Random(4)
    perfect, guessed = [], []
    for n, question in enumerate(questions):
        best = [chunks[n], *(chunk for chunk in chunks if chunk is not chunks[n])]
        perfect.append(score(question, best[:30], axis, measure))
        guessed.append(score(question, shuffle.sample(chunks, 30), axis, measure))
    for name in ("recall@1000", "recall@k", "hit@k", "mrr@k", "ndcg@k", "ap@k"):
        assert all(values[name] == 1 for values in perfect)
    assert sum(values["recall@1000"] for values in guessed) / 200 == pytest.approx(10 / 200, abs=0.04)
    assert sum(values["hit@k"] for values in guessed) / 200 == pytest.approx(5 / 200, abs=0.03)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 0}, "k is 0"),
        ({"budgets": ()}, "budget is missing"),
        ({"budgets": (0, 500)}, "budget is 0 but must be at least 1 character"),
        ({"budgets": (500, 200)}, "not ascending"),
    ],
)
def test_a_measure_that_measures_nothing_is_refused(wrong, words):
    with pytest.raises(UsageError, match=words):
        Measure(**wrong)
