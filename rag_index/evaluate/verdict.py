"""Say what a run shows: which configuration to take, how sure that is, and what to beware of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from rag_index.evaluate.run import Result, Run
from rag_index.evaluate.statistics import SURE, Bootstrap, Difference, Interval95, holm
from rag_index.types import Warn

FEW = 30
"""Questions below which intervals are too wide for most decisions."""
ENDLESS = 20
"""Times the questions at hand from which more of them are no way to settle anything."""
REACH = 0.05
"""Adjusted p below which a configuration is worse than the best."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One configuration beside the others, by the metric that decides.

    Attributes:
        name: Its short name.
        value: Mean and 95 % interval.
        behind: It minus the best, question by question; None for the best itself.
        p: Two-sided p of that difference, adjusted for the number of comparisons (Holm); 1 for the best.
        best: Probability of being the best of all, over resampled questions.
        contender: Whether it can't be told from the best.
    """

    name: str
    value: Interval95
    behind: Difference | None
    p: float
    best: float
    contender: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to take.

    Attributes:
        metric: What decided.
        standings: One a configuration, in the order of the run.
        best: Place of the one with the highest mean.
        recommended: Place of the one to take: the best where it is sure, else the cheapest that can't be told from it.
        decided: Whether the best is sure.
        sentences: The verdict in words, for people.
        warnings: What to beware of.
    """

    metric: str
    standings: Sequence[Standing]
    best: int
    recommended: int
    decided: bool
    sentences: Sequence[str]
    warnings: Sequence[Warn]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "metric": self.metric,
            "decided": self.decided,
            "best": self.standings[self.best].name,
            "recommended": self.standings[self.recommended].name,
            "text": " ".join(self.sentences),
            "standings": [asdict(standing) for standing in self.standings],
        }


def judge(run: Run, metric: str) -> Verdict:
    """Compare the configurations of `run` by `metric`. Raises UsageError for an unknown metric."""
    import numpy as np

    scores = run.scores(metric)
    bootstrap = resampled(len(run.questions))
    means = [sum(row) / len(row) for row in scores]
    best = min(range(len(scores)), key=lambda n: (-means[n], cost(run.results[n])))
    gaps = [bootstrap.difference(row, scores[best]) if n != best else None for n, row in enumerate(scores)]
    adjusted = iter(holm([gap.p for gap in gaps if gap]))
    chances = bootstrap.probability_best(np.asarray(scores))
    standings = []
    for n, gap in enumerate(gaps):
        p = next(adjusted) if gap else 1.0
        value = bootstrap.interval(scores[n])
        standings.append(Standing(run.names[n], value, gap, p, chances[n], contender=p >= REACH))
    contenders = [n for n, standing in enumerate(standings) if standing.contender]
    decided = len(scores) > 1 and (chances[best] >= SURE or contenders == [best])
    recommended = best if decided else min(contenders, key=lambda n: (cost(run.results[n]), -means[n]))
    sentences = list(_words(run, metric, standings, best, recommended, decided=decided))
    return Verdict(metric, standings, best, recommended, decided, sentences, _warnings(run, standings))


@lru_cache(maxsize=4)
def resampled(questions: int) -> Bootstrap:
    """Return the resamples of so many questions; the same for every comparison."""
    return Bootstrap(questions)


def cost(result: Result) -> tuple[int, int]:
    """Return what a configuration costs, for ordering: bytes of vectors, then chunks; times differ from run to run."""
    return (result.costs.vector_bytes, result.costs.chunks)


def _words(
    run: Run, metric: str, standings: Sequence[Standing], best: int, recommended: int, *, decided: bool
) -> Sequence[str]:
    top = standings[best]
    shown = f"{metric} {percent(top.value)}"
    if len(standings) == 1:
        return [f"One configuration, {top.name}: {shown}.", "There is nothing to compare it with."]
    if decided:
        return [
            f"Take {top.name}: {shown}.",
            f"It is the best of {len(standings)} in {top.best:.0%} of resamples of the {len(run.questions)} questions.",
        ]
    rest = [standing for n, standing in enumerate(standings) if standing.contender and n != best]
    told, count = len(standings) - len(rest) - 1, len(run.questions)
    cheap, chunks = standings[recommended], run.results[recommended].costs.chunks
    worse = {0: ".", 1: "; the other is worse."}.get(told, f"; the other {told} are worse.")
    words = [f"{len(rest) + 1} of {len(standings)} configurations can't be told apart by {count} questions{worse}"]
    taken = f"{cheap.name}: {metric} {percent(cheap.value)}, {chunks} chunks. Take that one."
    if recommended == best:
        words.append(f"The highest of them is the cheapest, too: {taken}")
    else:
        words += [f"Highest is {top.name}: {shown}.", f"Cheapest of them is {taken}"]
    nearest = max(rest, key=lambda standing: standing.value.mean)
    if nearest.behind and nearest.behind.more_questions:
        more = f"{float(f'{nearest.behind.more_questions:.2g}'):,.0f}"
        if nearest.behind.more_questions > ENDLESS * count:
            words.append(
                f"No number of questions that one would write tells {top.name} from {nearest.name} ({more} more)."
            )
        else:
            words.append(f"About {more} more questions would tell {top.name} from {nearest.name}.")
    elif nearest.behind and nearest.behind.more_questions is None:
        words.append(f"{top.name} and {nearest.name} answer every question equally well.")
    return words


def percent(value: Interval95) -> str:
    """Return ``75.6 % (71.6 to 79.1)``."""
    return f"{100 * value.mean:.1f} % ({100 * value.low:.1f} to {100 * value.high:.1f})"


def condensed(warnings: Sequence[Warn], most: int = 3) -> list[str]:
    """Return the messages for people: of many of one kind the first ones, and how many more there are."""
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kinds.setdefault(warning.code, []).append(warning.message)
    lines = []
    for messages in kinds.values():
        lines += messages if len(messages) <= most + 1 else messages[:most]
        if len(messages) > most + 1:
            lines.append(f"... and {len(messages) - most} more of this kind (--json has them all)")
    return lines


def _warnings(run: Run, standings: Sequence[Standing]) -> list[Warn]:
    notes = list(run.warnings)
    count = len(run.questions)
    widest = max((standing.value.high - standing.value.low) / 2 for standing in standings)
    if count == 1:
        notes.append(Warn("few_questions", "1 question: no interval means anything"))
    elif count < FEW:
        message = f"{count} questions are few: the figures are sure to ± {100 * widest:.0f} points; write {FEW} or more"
        notes.append(Warn("few_questions", message))
    for name, result in zip(run.names, run.results, strict=True):
        notes += _warnings_of(name, result, count)
    return notes


def _warnings_of(name: str, result: Result, questions: int) -> list[Warn]:
    notes = []
    costs = result.costs
    if costs.single > 0.5:  # noqa: PLR2004 (most)
        message = f"{name}: {costs.single:.0%} of the documents are one chunk; size and overlap change nothing for them"
        notes.append(Warn("one_chunk", message))
    if costs.held_back > 0:
        message = f"{name}: the model reads no longer chunks, so there are {costs.held_back} more than the size gives"
        notes.append(Warn("held_back", message, costs.held_back))
    if result.unreachable:
        message = f"{name}: the answer of {result.unreachable} of {questions} questions is in no chunk (hidden text?)"
        notes.append(Warn("gold_missing", message, result.unreachable))
    return notes
