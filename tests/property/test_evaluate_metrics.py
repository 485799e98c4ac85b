"""Interval metrics against sets of characters, rank metrics against trec_eval."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.evaluate.metrics import (
    cut,
    fresh,
    intersect,
    length,
    needed,
    omega,
    ranks,
    recall_at,
    score,
    subtract,
    union,
)

intervals = st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))
several = st.lists(intervals, max_size=6)
some = st.lists(intervals.filter(lambda span: span[0] < span[1]), min_size=1, max_size=4)


def characters(spans) -> set[int]:
    return {at for start, end in spans for at in range(start, end)}


@given(several, several)
def test_set_operations_on_intervals_are_those_on_sets_of_characters(left, right):
    a, b = union(left), union(right)
    assert characters(a) == characters(left)
    assert length(a) == len(characters(left))
    assert all(one[1] < two[0] for one, two in pairwise(a))
    assert characters(intersect(a, b)) == characters(left) & characters(right)
    assert characters(subtract(a, b)) == characters(left) - characters(right)


@given(several, some)
def test_net_scores_are_those_of_sets_of_characters(retrieved, references):
    got, wanted = characters(retrieved), characters(references)
    found = len(got & wanted)
    result = score(retrieved, references)
    assert result.characters == len(got)
    assert result.recall == found / len(wanted)
    assert result.precision == (found / len(got) if got else 0)
    assert result.iou == found / len(got | wanted)


@given(several, some)
def test_gross_scores_pay_each_span_in_full(retrieved, references):
    got, wanted = characters(retrieved), characters(references)
    paid = sum(end - start for start, end in retrieved)
    result = score(retrieved, references, gross=True)
    assert result.characters == paid
    assert result.recall == len(got & wanted) / len(wanted)
    assert result.precision == (len(got & wanted) / paid if paid else 0)
    assert result.iou == len(got & wanted) / (paid + len(wanted - got))


@given(several, some)
def test_omega_is_the_precision_of_all_chunks_that_hold_a_character_of_a_reference(chunks, references):
    wanted = characters(references)
    touching = [chunk for chunk in chunks if characters([chunk]) & wanted]
    got = characters(touching)
    assert omega(chunks, references) == (len(got & wanted) / len(got) if got else 0)


@given(st.lists(several, max_size=5), some, st.integers(0, 60))
def test_the_net_reading_order_shows_each_character_once_and_the_curve_counts_what_was_read(ranked, references, budget):
    order = fresh(ranked)
    read: list[int] = []
    for spans in ranked:
        for start, end in spans:
            read.extend(at for at in range(start, end) if at not in read)
    assert [at for start, end in order for at in range(start, end)] == read
    wanted = characters(references)
    assert characters(cut(order, budget)) == set(read[:budget])
    assert recall_at(order, references, [budget]) == [len(set(read[:budget]) & wanted) / len(wanted)]


@given(several, some, st.floats(0.05, 1))
def test_the_characters_needed_are_the_smallest_budget_that_reaches_the_target(order, references, target):
    need = needed(order, references, target)
    total = length(order)
    curve = recall_at(order, references, range(total + 1))
    reached = [budget for budget, recall in enumerate(curve) if recall >= target]
    assert need == (reached[0] if reached else None)


@given(st.lists(several, max_size=8), st.lists(some, min_size=1, max_size=3), st.integers(1, 9))
def test_no_rank_metric_passes_1_and_more_answers_never_find_less(ranked, references, k):
    result = ranks(ranked, [[places] for places in references], k)
    values = (result.hit, result.recall, result.mrr, result.ndcg, result.ap)
    assert all(0 <= value <= 1 + 1e-12 for value in values)
    assert ranks(ranked, [[places] for places in references], k + 1).recall >= result.recall


documents = st.permutations(range(12))


@given(documents, st.sets(st.integers(0, 11), min_size=1), st.integers(1, 12))
def test_rank_metrics_over_whole_documents_are_those_of_trec_eval(order, relevant, depth):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    answers = list(order)[:depth]
    qrels = {"q": {f"d{n}": int(n in relevant) for n in range(12)}}
    run = {"q": {f"d{n}": float(100 - rank) for rank, n in enumerate(answers)}}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.10", "map_cut.10", "recip_rank"})
    theirs = evaluator.evaluate(run)["q"]

    ours = ranks([[(n * 10, n * 10 + 10)] for n in answers], [[[(n * 10, n * 10 + 10)]] for n in relevant], 10)

    assert math.isclose(ours.ndcg, theirs["ndcg_cut_10"], abs_tol=1e-9)
    assert math.isclose(ours.recall, theirs["recall_10"], abs_tol=1e-9)
    assert math.isclose(ours.ap, theirs["map_cut_10"], abs_tol=1e-9)
    first = theirs["recip_rank"] if theirs["recip_rank"] >= 0.1 else 0  # theirs looks beyond rank 10
    assert math.isclose(ours.mrr, first, abs_tol=1e-9)
