"""Intervals, paired differences and probabilities over questions."""

from __future__ import annotations

import numpy as np
import pytest

from rag_index.evaluate.statistics import Bootstrap, holm

RANDOM = np.random.default_rng(7)


def test_the_interval_holds_the_mean_and_is_the_same_each_time():
    values = RANDOM.random(80).tolist()
    found = Bootstrap(80).interval(values)
    assert found.low < found.mean < found.high
    assert found == Bootstrap(80).interval(values)


def test_the_interval_is_that_of_drawing_questions_one_by_one():
    values = RANDOM.random(60)
    drawn = np.sort([values[RANDOM.integers(0, 60, 60)].mean() for _ in range(20_000)])
    found = Bootstrap(60).interval(values.tolist())
    assert found.low == pytest.approx(drawn[500], abs=0.004)
    assert found.high == pytest.approx(drawn[-500], abs=0.004)


def test_intervals_cover_the_truth_at_their_rate():
    random = np.random.default_rng(11)
    bootstrap = Bootstrap(100, resamples=2000)
    inside = 0
    for _ in range(400):
        found = bootstrap.interval(random.beta(0.5, 0.3, 100).tolist())  # recall's shape: mostly 0 or 1
        inside += found.low <= 0.5 / 0.8 <= found.high
    assert 0.91 <= inside / 400 <= 0.98


def test_a_difference_that_is_there_is_found_and_one_that_is_not_is_not():
    random = np.random.default_rng(3)
    base = random.random(300)
    better = np.clip(base + 0.05 + random.normal(0, 0.1, 300), 0, 2)
    bootstrap = Bootstrap(300)
    found = bootstrap.difference(better.tolist(), base.tolist())
    assert found.significant
    assert found.p < 0.001
    assert found.more_questions == 0
    nothing = bootstrap.difference((base + random.normal(0, 0.1, 300)).tolist(), base.tolist())
    assert not nothing.significant
    assert nothing.p > 0.05
    assert nothing.more_questions > 0


def test_the_p_value_is_even_where_nothing_differs():
    random = np.random.default_rng(5)
    bootstrap = Bootstrap(60, resamples=500)
    below = sum(bootstrap.difference(random.random(60), random.random(60)).p < 0.2 for _ in range(300))
    assert 0.13 <= below / 300 <= 0.27


def test_equal_configurations_never_differ():
    found = Bootstrap(20).difference([0.5] * 20, [0.5] * 20)
    assert (found.mean, found.p, found.more_questions, found.significant) == (0, 1, None, False)


def test_one_question_gives_an_interval_of_no_width():
    found = Bootstrap(1).interval([0.5])
    assert (found.low, found.mean, found.high) == (0.5, 0.5, 0.5)
    assert Bootstrap(1).difference([1.0], [0.5]).more_questions == 0


def test_the_probability_of_being_best_is_shared_among_equals_and_sums_to_1():
    bootstrap = Bootstrap(50)
    same = RANDOM.random(50)
    assert bootstrap.probability_best(np.stack([same, same])) == [0.5, 0.5]
    clear = bootstrap.probability_best(np.stack([same, same + 0.2, same - 0.1]))
    assert clear == [0, 1, 0]


def test_holm_raises_p_values_and_keeps_their_order():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
