"""Say how sure a difference is: bootstrap over questions, paired, with a fixed seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    """One row a configuration, one column a question; the same questions in the same order."""

RESAMPLES = 10_000
SEED = 20_240_731
LEVEL = 0.95
SURE = 0.90
"""Probability of being best from which a configuration is named."""
_Z_LEVEL, _Z_POWER = 1.959964, 0.841621  # two-sided 95 %, power 80 %


@dataclass(frozen=True, slots=True)
class Interval95:
    """A mean over questions with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """One configuration minus another, on the same questions.

    Attributes:
        mean: Mean difference.
        low: Lower end of its 95 % interval.
        high: Upper end.
        p: Two-sided p of the sign-flip test.
        more_questions: Further questions like these that would show a difference of this size at 95 % with
            power 80 %; 0 where they are enough, None where the two never differ.
    """

    mean: float
    low: float
    high: float
    p: float
    more_questions: int | None

    @property
    def significant(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


class Bootstrap:
    """Resamples of one set of questions, drawn once, so that all comparisons see the same ones.

    Memory is ``RESAMPLES x questions`` counts of two bytes; a thousand questions take 20 MB.
    """

    def __init__(self, questions: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> None:
        import numpy as np

        random = np.random.default_rng(seed)
        even = np.full(questions, 1 / questions)
        self._counts = random.multinomial(questions, even, size=resamples).astype(np.int16)
        self._seed = seed

    def means(self, scores: Scores) -> Scores:
        """Return the resampled means, shape (configurations, resamples)."""
        import numpy as np

        return np.asarray(scores @ self._counts.T.astype(np.float64) / scores.shape[1])

    def interval(self, values: Sequence[float]) -> Interval95:
        """Return the mean of `values` (one a question) and its percentile interval."""
        import numpy as np

        scores = np.asarray(values, dtype=np.float64)[None]
        low, high = np.quantile(self.means(scores)[0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval95(float(scores.mean()), float(low), float(high))

    def difference(self, one: Sequence[float], other: Sequence[float]) -> Difference:
        """Return `one` minus `other`, question by question."""
        import numpy as np

        gaps = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
        found = self.interval(gaps.tolist())
        return Difference(found.mean, found.low, found.high, self._sign_flip(gaps), _more_questions(gaps))

    def probability_best(self, scores: Scores) -> list[float]:
        """Return for each configuration the share of resamples in which its mean is the highest; ties share."""
        import numpy as np

        means = self.means(scores)
        best = np.isclose(means, means.max(axis=0), rtol=0, atol=1e-12)
        return [float(share) for share in (best / best.sum(axis=0)).mean(axis=1)]

    def _sign_flip(self, gaps: Scores) -> float:
        import numpy as np

        moved = gaps[gaps != 0]
        if not len(moved):
            return 1.0
        signs = np.random.default_rng(self._seed + 1).integers(0, 2, (len(self._counts), len(moved)), dtype=np.int8)
        flipped = np.abs((signs * 2.0 - 1) @ moved)
        beyond = int((flipped >= abs(moved.sum()) - 1e-12).sum())
        return (beyond + 1) / (len(flipped) + 1)


def holm(values: Sequence[float]) -> list[float]:
    """Return p values adjusted for being several, in the order given."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(values)), key=lambda n: values[n])):
        highest = max(highest, min(1.0, values[at] * (len(values) - rank)))
        adjusted[at] = highest
    return adjusted


def _more_questions(gaps: Scores) -> int | None:
    mean, spread = float(gaps.mean()), float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
    if mean == 0:
        return None
    wanted = ((_Z_LEVEL + _Z_POWER) * spread / mean) ** 2
    return max(0, ceil(wanted) - len(gaps))
