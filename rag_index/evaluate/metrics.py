r"""Measure retrieved spans against references: pure functions over half-open intervals of one axis.

Write T for the retrieved spans, R for the references, ``|X|`` for the characters in the union of X:

    recall     = |T ∩ R| / |R|
    precision  = |T ∩ R| / charge(T)
    IoU        = |T ∩ R| / (charge(T) + |R \ T|)

``charge`` is what the reader pays. **Net**: ``|T|``, shared text paid once. **Gross**: the sum of the
lengths of all spans, shared text paid each time; the accounting of published tables.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log2
from operator import itemgetter
from typing import TypeAlias

Interval: TypeAlias = tuple[int, int]
"""A half-open range: start, end."""


@dataclass(frozen=True, slots=True)
class Score:
    """How one question was answered; every value from 0 to 1, characters a count."""

    recall: float
    precision: float
    iou: float
    characters: int


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where in the list the references were found; every value from 0 to 1."""

    hit: float
    recall: float
    mrr: float
    ndcg: float
    ap: float


def union(spans: Iterable[Interval]) -> list[Interval]:
    """Return `spans` sorted and disjoint, touching ones joined, empty ones dropped."""
    joined: list[Interval] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def length(spans: Iterable[Interval]) -> int:
    """Return the sum of the lengths; shared text counts in each span that holds it."""
    return sum(end - start for start, end in spans)


def intersect(left: Sequence[Interval], right: Sequence[Interval]) -> list[Interval]:
    """Return what two unions share; both must be sorted and disjoint."""
    shared: list[Interval] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start = max(left[i][0], right[j][0])
        end = min(left[i][1], right[j][1])
        if start < end:
            shared.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return shared


def subtract(left: Sequence[Interval], right: Sequence[Interval]) -> list[Interval]:
    """Return what `left` has and `right` has not; both must be sorted and disjoint."""
    rest: list[Interval] = []
    j = 0
    for start, end in left:
        at = start
        while j < len(right) and right[j][1] <= start:
            j += 1
        k = j
        while k < len(right) and right[k][0] < end:
            if at < right[k][0]:
                rest.append((at, right[k][0]))
            at = max(at, right[k][1])
            k += 1
        if at < end:
            rest.append((at, end))
    return rest


def score(retrieved: Sequence[Interval], references: Sequence[Interval], *, gross: bool = False) -> Score:
    """Score what was retrieved for one question.

    Nothing retrieved scores 0 in all; so does a question without references, which no loader lets through.
    """
    wanted, got = union(references), union(retrieved)
    found = length(intersect(got, wanted))
    paid = length(retrieved) if gross else length(got)
    missed = length(wanted) - found
    return Score(
        recall=found / length(wanted) if wanted else 0.0,
        precision=found / paid if paid else 0.0,
        iou=found / (paid + missed) if paid + missed else 0.0,
        characters=paid,
    )


def omega(chunks: Iterable[Interval], references: Sequence[Interval], *, gross: bool = False) -> float:
    """Return the precision of the perfect retriever: every chunk that holds a character of a reference.

    It tells how tightly a chunking can enclose the references, whatever the model. Net needs one shared
    character and pays shared text once. Gross is the published rule: a chunk that only touches a reference
    (shares a border with it) is paid too.
    """
    wanted = union(references)
    if gross:
        touching = [c for c in chunks if any(max(c[0], r[0]) <= min(c[1], r[1]) for r in references)]
    else:
        touching = [c for c in chunks if any(max(c[0], r[0]) < min(c[1], r[1]) for r in references)]
    got = union(touching)
    return length(intersect(got, wanted)) / length(got) if got else 0.0


def fresh(ranked: Iterable[Sequence[Interval]], budget: int | None = None) -> list[Interval]:
    """Return, best first, the parts of each answer that no better answer has shown: the net reading order.

    Args:
        ranked: Answers, best first; each a list of spans (several where text repeats elsewhere).
        budget: Stop after the answer with which so many characters are read.
    """
    seen: list[Interval] = []
    new: list[Interval] = []
    read = 0
    for spans in ranked:
        if budget is not None and read >= budget:
            break
        for span in spans:
            parts = _add(seen, span)
            new += parts
            read += length(parts)
    return new


def _add(seen: list[Interval], span: Interval) -> list[Interval]:
    """Join `span` to the union `seen`, in place; return what was new of it."""
    start, end = span
    if start >= end:
        return []
    first = bisect_left(seen, start, key=itemgetter(1))
    last = bisect_right(seen, end, key=itemgetter(0))
    touching = seen[first:last]
    parts = subtract([span], touching)
    if touching:
        start, end = min(start, touching[0][0]), max(end, touching[-1][1])
    seen[first:last] = [(start, end)]
    return parts


def cut(order: Iterable[Interval], budget: int) -> list[Interval]:
    """Return the first `budget` characters of a reading order; the last span may be cut inside."""
    kept: list[Interval] = []
    left = budget
    for start, end in order:
        if left <= 0:
            break
        kept.append((start, min(end, start + left)))
        left -= end - start
    return kept


def recall_at(order: Sequence[Interval], references: Sequence[Interval], budgets: Sequence[int]) -> list[float]:
    """Return the recall of the first B characters of a reading order, for each B of `budgets`.

    With `order` from `fresh` this is the net curve; with the spans as returned, the gross one.
    """
    steps = _steps(order, references)
    total = length(union(references))
    return [_found_at(steps, budget) / total if total else 0.0 for budget in budgets]


def needed(order: Sequence[Interval], references: Sequence[Interval], target: float) -> int | None:
    """Return how many characters must be read until recall reaches `target`; None when it never does."""
    goal = target * length(union(references))
    found = read = 0
    for size, hit in _steps(order, references):
        if hit and found + size >= goal:
            return read + max(0, -int(-(goal - found) // 1))
        found += size if hit else 0
        read += size
    return None


def ranks(
    ranked: Sequence[Sequence[Interval]],
    references: Sequence[Sequence[Sequence[Interval]]],
    k: int,
    *,
    share: float = 0.5,
) -> Ranks:
    """Score the order of the answers; each reference is credited once, at the first answer that holds it.

    An answer holds a reference when it has at least `share` of the characters of one of its places. An answer
    that holds several pays them on successive ranks, so that no value passes 1. With one whole document a
    reference these are the usual definitions.

    Args:
        ranked: Answers, best first; each a list of spans.
        references: For each reference its places, any of which will do; each a list of spans.
        k: Only the first `k` answers count.
        share: 0 < share <= 1.
    """
    places = _credited(ranked[:k], references, share)
    within = [place for place in places if place <= k]
    count = len(references)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(count, k) + 1))
    return Ranks(
        hit=1.0 if within else 0.0,
        recall=len(places) / count if count else 0.0,
        mrr=1 / within[0] if within else 0.0,
        ndcg=sum(1 / log2(place + 1) for place in within) / ideal if ideal else 0.0,
        ap=sum(nth / place for nth, place in enumerate(places, 1)) / count if count else 0.0,
    )


def _credited(
    ranked: Sequence[Sequence[Interval]], references: Sequence[Sequence[Sequence[Interval]]], share: float
) -> list[int]:
    """Return the 1-based rank at which each found reference is paid, ascending, no two the same."""
    wanted = [[union(place) for place in places] for places in references]
    open_ = set(range(len(wanted)))
    paid: list[int] = []
    for rank, answer in enumerate(ranked, 1):
        got = union(answer)
        held = [n for n in sorted(open_) if any(_holds(got, place, share) for place in wanted[n])]
        for n in held:
            open_.discard(n)
            paid.append(max(rank, paid[-1] + 1) if paid else rank)
    return paid


def _holds(got: Sequence[Interval], place: Sequence[Interval], share: float) -> bool:
    return bool(place) and length(intersect(got, place)) >= share * length(place)


def _steps(order: Iterable[Interval], references: Sequence[Interval]) -> list[tuple[int, bool]]:
    """Cut a reading order into runs: (characters, whether they are reference text not read before)."""
    left = union(references)
    steps: list[tuple[int, bool]] = []
    for start, end in order:
        hits = intersect([(start, end)], left)
        at = start
        for hit in hits:
            steps += [(hit[0] - at, False), (hit[1] - hit[0], True)]
            at = hit[1]
        steps.append((end - at, False))
        left = subtract(left, hits) if hits else left
    return [step for step in steps if step[0] > 0]


def _found_at(steps: Sequence[tuple[int, bool]], budget: int) -> int:
    ends = accumulate(size for size, _ in steps)
    return sum(max(0, min(size, budget - (end - size))) for (size, hit), end in zip(steps, ends, strict=True) if hit)
