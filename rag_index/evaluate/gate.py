"""Pass or fail a run: a floor for a metric, or no loss against a saved run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_index.errors import UsageError
from rag_index.evaluate.run import Run, check_metric, load_run
from rag_index.evaluate.scoring import Measure
from rag_index.evaluate.statistics import Difference
from rag_index.evaluate.verdict import resampled


@dataclass(frozen=True, slots=True)
class Floor:
    """A value that a metric may not fall below."""

    metric: str
    least: float


@dataclass(frozen=True, slots=True)
class Check:
    """One outcome: `message` says it to people."""

    passed: bool
    message: str


def read_floors(texts: Sequence[str], measure: Measure) -> list[Floor]:
    """Read ``recall@3000=0.85``. Raises UsageError for another shape, an unknown metric or a value beyond 0 to 1."""
    floors = []
    for text in texts:
        metric, sign, value = text.partition("=")
        try:
            least = float(value)
        except ValueError:
            least = -1.0
        if not sign or not 0 <= least <= 1:
            raise UsageError(f"--fail-under {text!r} is no floor", "Write METRIC=VALUE, as in recall@3000=0.85.")
        check_metric(metric, measure)
        floors.append(Floor(metric, least))
    return floors


def check_floors(run: Run, floors: Sequence[Floor], at: int) -> list[Check]:
    """Check the means of the configuration at place `at`."""
    checks = []
    for floor in floors:
        values = run.scores(floor.metric)[at]
        mean = sum(values) / len(values)
        passed = mean >= floor.least
        sign = ">=" if passed else "<"
        checks.append(Check(passed, f"{run.names[at]}: {floor.metric} {mean:.4f} {sign} {floor.least}"))
    return checks


def check_baseline(run: Run, path: Path, metric: str) -> list[Check]:
    """Compare each configuration with itself in the saved run, on the questions that both have.

    A significant loss fails: the 95 % interval of the paired difference lies below 0. Raises UsageError when the
    file is no run, measured something else, or shares neither question nor configuration with this one.
    """
    before = load_run(path)
    check_metric(metric, before.measure)
    now_at = {id_: n for n, id_ in enumerate(run.questions)}
    shared = [(now_at[id_], n) for n, id_ in enumerate(before.questions) if id_ in now_at]
    old = {result.cell.key: result for result in before.results}
    pairs = [(n, old[result.cell.key]) for n, result in enumerate(run.results) if result.cell.key in old]
    if not shared or not pairs:
        what = "question" if not shared else "configuration"
        raise UsageError(f"{path} has no {what} in common with this run", "Compare with a run of the same grid.")
    checks = []
    for n, was in pairs:
        now_values = [run.results[n].scores[metric][now] for now, _ in shared]
        old_values = [was.scores[metric][then] for _, then in shared]
        gap = resampled(len(shared)).difference(now_values, old_values)
        checks.append(_compared(run.names[n], metric, gap, len(shared)))
    return checks


def to_dict(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """Return plain values, ready for JSON."""
    return [{"passed": check.passed, "message": check.message} for check in checks]


def _compared(name: str, metric: str, gap: Difference, questions: int) -> Check:
    lost = gap.high < 0
    word = "lost" if lost else "gained" if gap.low > 0 else "not told apart"
    return Check(
        not lost,
        f"{name}: {metric} {100 * gap.mean:+.1f} points ({100 * gap.low:+.1f} to {100 * gap.high:+.1f})"
        f" against the baseline on {questions} questions: {word}",
    )
