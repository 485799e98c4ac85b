"""Turn the answers to one question into values, one a metric."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_index.errors import UsageError
from rag_index.evaluate.axis import Axis, chosen
from rag_index.evaluate.labels import Question
from rag_index.evaluate.metrics import Interval, intersect, length, omega, ranks, score, union
from rag_index.search import Answer
from rag_index.types import Place

BUDGETS = (500, 1000, 2000, 3000, 4000, 6000)
"""Characters at which recall and IoU are measured where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured.

    Attributes:
        k: Passages that count for the metrics at k.
        budgets: Characters that a reader is willing to read; ascending.
        share: Share of a reference that a passage must hold to be credited in the rank metrics.
    """

    k: int = 5
    budgets: tuple[int, ...] = BUDGETS
    share: float = 0.5

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k is {self.k} but must be at least 1", "Raise --k.")
        if not self.budgets or min(self.budgets) < 1:
            shown = min(self.budgets, default="missing")
            raise UsageError(f"budget is {shown} but must be at least 1 character", "Raise --budgets.")
        if list(self.budgets) != sorted(set(self.budgets)):
            raise UsageError(f"budgets are not ascending: {self.budgets}", "Sort --budgets and name each once.")

    @property
    def names(self) -> list[str]:
        """Return the names of all metrics, those of the answers first, then those of the chunks alone."""
        return [
            *(f"{name}@{budget}" for name in ("recall", "iou") for budget in self.budgets),
            *(f"{name}@k" for name in (*_AT_K, *_RANKS)),
            *_OF_CHUNKS,
        ]


_AT_K = ("recall", "precision", "iou", "characters", "gross_recall", "gross_precision", "gross_iou")
_RANKS = ("hit", "references", "mrr", "ndcg", "ap")
_OF_CHUNKS = ("omega", "gross_omega", "whole")


def score_answers(
    question: Question, first: Sequence[Answer], filling: Sequence[Sequence[Answer]], axis: Axis, measure: Measure
) -> dict[str, float]:
    """Return the values of one question; every name of `measure` but those of the chunks alone.

    Args:
        question: With its references.
        first: Where the first k passages stand.
        filling: For each budget of `measure` where the passages stand that fill it.
        axis: Where all documents lie.
        measure: What to measure.
    """
    choices = [axis.choices(reference) for reference in question.references]
    values: dict[str, float] = {}
    for budget, answers in zip(measure.budgets, filling, strict=True):
        read = [span for answer in answers for span in axis.net(_told(answer, choices, axis))]
        found = score(read, chosen(choices, read))
        values[f"recall@{budget}"], values[f"iou@{budget}"] = found.recall, found.iou
    places = [_told(answer, choices, axis) for answer in first]
    ranked = [axis.net(place) for place in places]
    read = [span for spans in ranked for span in spans]
    net = score(read, chosen(choices, read))
    labelled = [axis.plain(reference.places[0]) for reference in question.references]
    gross = score([axis.plain(place) for place in places], labelled, gross=True)
    at_k = (net.recall, net.precision, net.iou, float(net.characters), gross.recall, gross.precision, gross.iou)
    order = ranks(ranked, choices, measure.k, share=measure.share)
    by_rank = (order.hit, order.recall, order.mrr, order.ndcg, order.ap)
    values |= {f"{name}@k": value for name, value in zip(_AT_K, at_k, strict=True)}
    return values | {f"{name}@k": value for name, value in zip(_RANKS, by_rank, strict=True)}


def score_chunks(question: Question, chunks: Chunks, axis: Axis) -> dict[str, float]:
    """Return what the chunks alone decide, whatever the model: how tightly they can enclose the references."""
    places = [reference.places[0] for reference in question.references]
    plain = [axis.plain(place) for place in places]
    near = [chunk for place in plain for chunk in chunks.near(place)]
    near = list(dict.fromkeys(near))
    whole = sum(any(c[0] <= span[0] and span[1] <= c[1] for c in near) for span in plain)
    return {
        "omega": omega(near, plain),
        "gross_omega": omega(near, plain, gross=True),
        "whole": whole / len(plain),
    }


def uncovered(question: Question, chunks: Chunks, axis: Axis) -> bool:
    """Whether a reference has a character in no chunk, however good the search is."""
    for reference in question.references:
        span = axis.plain(reference.places[0])
        held = intersect([span], union(chunks.near(span)))
        if length(held) < (span[1] - span[0]) / 2:
            return True
    return False


class Chunks:
    """The chunks of all documents on the axis, by position; their starts and ends both ascend."""

    def __init__(self, spans: Iterable[Interval]) -> None:
        self._spans = sorted(spans)
        self._ends = [end for _, end in self._spans]

    def near(self, span: Interval) -> list[Interval]:
        """Return the chunks that share a character or a border with `span`."""
        first = bisect_left(self._ends, span[0])
        last = bisect_right(self._spans, span[1], key=lambda chunk: chunk[0])
        return self._spans[first:last]


def _told(answer: Answer, choices: Sequence[Sequence[Sequence[Interval]]], axis: Axis) -> Place:
    """Return the place of an answer; where the same text stands elsewhere too, the place that was labelled."""
    own = Place(answer.path, answer.start, answer.end)
    if not answer.also:
        return own
    wanted = union(span for places in choices for place in places for span in place)
    return max((own, *answer.also), key=lambda place: length(intersect(union(axis.net(place)), wanted)))
