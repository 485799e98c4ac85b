"""Cases of the metrics that a person can check by hand."""

from __future__ import annotations

import pytest

from rag_index.evaluate.metrics import Score, fresh, needed, omega, ranks, recall_at, score


@pytest.mark.parametrize(
    ("retrieved", "references", "gross", "expected"),
    [
        pytest.param([(0, 10)], [(0, 10)], False, Score(1, 1, 1, 10), id="exactly the reference"),
        pytest.param([(0, 20)], [(0, 10)], False, Score(1, 0.5, 0.5, 20), id="twice as much as wanted"),
        pytest.param([(0, 5)], [(0, 10)], False, Score(0.5, 1, 0.5, 5), id="half of the reference"),
        pytest.param([(0, 10), (0, 10)], [(0, 10)], False, Score(1, 1, 1, 10), id="net: shared text once"),
        pytest.param([(0, 10), (0, 10)], [(0, 10)], True, Score(1, 0.5, 0.5, 20), id="gross: shared text twice"),
        pytest.param([(10, 20)], [(0, 10)], False, Score(0, 0, 0, 10), id="only touching"),
        pytest.param([], [(0, 10)], False, Score(0, 0, 0, 0), id="nothing retrieved"),
        pytest.param([(0, 10)], [], False, Score(0, 0, 0, 10), id="nothing wanted"),
        pytest.param([], [], False, Score(0, 0, 0, 0), id="nothing at all"),
    ],
)
def test_score(retrieved, references, gross, expected):
    assert score(retrieved, references, gross=gross) == expected


def test_omega_gross_pays_a_chunk_that_only_touches_a_reference_and_net_does_not():
    chunks = [(0, 10), (10, 20)]
    assert omega(chunks, [(10, 20)]) == 1.0
    assert omega(chunks, [(10, 20)], gross=True) == 0.5
    assert omega([], [(10, 20)]) == 0.0


def test_recall_at_a_budget_cuts_the_last_answer_inside_and_a_budget_of_0_finds_nothing():
    order = fresh([[(0, 100)], [(50, 150)]])
    assert recall_at(order, [(90, 110)], [0, 90, 100, 105, 110, 1000]) == [0, 0, 0.5, 0.75, 1.0, 1.0]
    assert recall_at(order, [], [10]) == [0.0]


def test_the_gross_curve_pays_shared_text_again():
    as_returned = [(0, 100), (50, 150)]
    assert recall_at(as_returned, [(100, 110)], [110, 160]) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("target", "expected"), [(0.5, 100), (1.0, 110), (0.01, 91)], ids=["half", "all", "the first character"]
)
def test_characters_needed(target, expected):
    assert needed([(0, 150)], [(90, 110)], target) == expected


def test_a_target_that_is_never_reached_needs_no_number():
    assert needed([(0, 100)], [(90, 110)], 0.9) is None


def test_a_reference_is_credited_once_however_often_it_is_returned():
    result = ranks([[(0, 10)], [(0, 10)], [(0, 10)]], [[[(0, 10)]]], 3)
    assert (result.hit, result.recall, result.mrr, result.ndcg, result.ap) == (1, 1, 1, 1, 1)


def test_an_answer_that_holds_two_references_is_perfect_and_not_more():
    result = ranks([[(0, 20)]], [[[(0, 10)]], [[(10, 20)]]], 5)
    assert (result.ndcg, result.ap, result.recall) == (1, 1, 1)


def test_any_place_of_a_reference_will_do():
    assert ranks([[(50, 60)]], [[[(0, 10)], [(50, 60)]]], 5).mrr == 1.0


@pytest.mark.parametrize(("share", "found"), [(0.5, 1.0), (1.0, 0.0)], ids=["half of it will do", "all of it needed"])
def test_the_share_of_a_reference_that_an_answer_must_hold(share, found):
    assert ranks([[(5, 20)]], [[[(0, 10)]]], 5, share=share).recall == found


def test_what_stands_after_rank_k_does_not_count():
    result = ranks([[(90, 99)], [(0, 10)]], [[[(0, 10)]]], 1)
    assert (result.hit, result.recall, result.mrr, result.ndcg, result.ap) == (0, 0, 0, 0, 0)


def test_no_reference_gives_0_in_all():
    assert ranks([[(0, 10)]], [], 5).ndcg == 0.0
