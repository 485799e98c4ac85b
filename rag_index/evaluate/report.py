"""A run as plain data: rows for a table, CSV, JSON, and the questions that went worst."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from typing import Any

from rag_index.evaluate.labels import Question
from rag_index.evaluate.run import Result, Run
from rag_index.evaluate.verdict import Verdict, resampled
from rag_index.extract.positions import locate
from rag_index.types import Document, Place

TARGET = 0.8
"""Recall whose price in characters is shown."""
AROUND = 160
"""Characters of the document shown before and after what is marked."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A piece of a document and what it is: ``found`` (wanted and returned), ``missed``, ``extra`` or plain."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a document with marks; `where` is ``path:line`` or the like."""

    where: str
    parts: Sequence[Marked]


@dataclass(frozen=True, slots=True)
class Worst:
    """A question that was answered badly: its value, and its references and answers in their documents."""

    question: Question
    value: float
    excerpts: Sequence[Excerpt]


def table(run: Run, verdict: Verdict) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows that a person wants to see first, as text, in the order of the run.

    Columns: configuration, chunks, then in percent recall, precision and IoU at k; recall and IoU at the budget
    nearest 3,000 characters; nDCG; the deciding metric with its interval; the probability of being best.
    """
    budget = min(run.measure.budgets, key=lambda characters: abs(characters - 3000))
    shown = ["recall@k", "precision@k", "iou@k", f"recall@{budget}", f"iou@{budget}", "ndcg@k"]
    header = ["configuration", "chunks", *(_title(name, run.measure.k) for name in shown)]
    header += [f"{verdict.metric} (95 %)", "best in", "query ms"]
    rows = []
    for n, (result, standing) in enumerate(zip(run.results, verdict.standings, strict=True)):
        value = standing.value
        mark = "* " if n == verdict.recommended else "  "
        rows.append(
            [
                mark + run.names[n],
                str(result.costs.chunks),
                *(f"{100 * _mean(result.scores[name]):.1f}" for name in shown),
                f"{100 * value.mean:.1f} ({100 * value.low:.1f} to {100 * value.high:.1f})",
                f"{standing.best:.0%}",
                f"{result.costs.query_ms:.1f}",
            ]
        )
    return header, rows


def to_csv(run: Run) -> str:
    """Return one line a configuration: its settings, mean, low and high of every metric, its costs."""
    records = [record(run, n) for n in range(len(run.results))]
    flat = [
        {
            **entry["settings"],
            **_flat(entry["values"]),
            "characters_for_80": entry["characters_for_80"],
            **entry["costs"],
        }
        for entry in records
    ]
    buffer = StringIO()
    writer = csv.DictWriter(buffer, ["configuration", *flat[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows({"configuration": name, **entry} for name, entry in zip(run.names, flat, strict=True))
    return buffer.getvalue()


def to_dict(run: Run, verdict: Verdict) -> dict[str, Any]:
    """Return the run as `eval --json` prints it; the contract is documented in docs/evaluation.md."""
    return {
        "questions": len(run.questions),
        "documents": run.documents,
        "characters": run.characters,
        "k": run.measure.k,
        "budgets": list(run.measure.budgets),
        "configurations": [
            {"name": run.names[n], "recommended": n == verdict.recommended, **record(run, n)}
            for n in range(len(run.results))
        ],
        "verdict": verdict.to_dict(),
        "warnings": [asdict(warning) for warning in verdict.warnings],
        "embedded": run.embedded,
        "reused": run.reused,
        "seconds": run.seconds,
    }


def record(run: Run, n: int) -> dict[str, Any]:
    """Return settings, values and costs of the configuration at place `n`."""
    result = run.results[n]
    cell = result.cell
    settings = {name: getattr(cell.chunk, name) for name in ("chunker", "size", "overlap", "unit")}
    settings |= {"model": cell.embed.model, "mode": cell.search.mode, "passages": cell.search.passages}
    bootstrap = resampled(len(run.questions))
    values = {name: asdict(bootstrap.interval(scores)) for name, scores in result.scores.items()}
    rounded = {name: {key: round(value, 4) for key, value in entry.items()} for name, entry in values.items()}
    needed = characters_for(run, n, TARGET)
    return {"settings": settings, "values": rounded, "characters_for_80": needed, "costs": asdict(result.costs)}


def characters_for(run: Run, n: int, target: float) -> int | None:
    """Return the characters at which the mean recall reaches `target`, read off between the budgets; None: never."""
    before = (0, 0.0)
    for budget in run.measure.budgets:
        recall = _mean(run.results[n].scores[f"recall@{budget}"])
        if recall >= target:
            share = (target - before[1]) / (recall - before[1])
            return round(before[0] + share * (budget - before[0]))
        before = (budget, recall)
    return None


def by_tag(run: Run, verdict: Verdict, questions: Sequence[Question]) -> list[tuple[str, int, str]]:
    """Return, for the recommended configuration, each tag with its questions and its value, lowest first."""
    scores = run.results[verdict.recommended].scores[verdict.metric]
    groups: dict[str, list[float]] = {}
    for question, value in zip(questions, scores, strict=True):
        for tag in question.tags:
            groups.setdefault(tag, []).append(value)
    ordered = sorted(groups.items(), key=lambda group: (_mean(group[1]), group[0]))
    return [(tag, len(values), f"{100 * _mean(values):.1f}") for tag, values in ordered]


def worst(
    run: Run, verdict: Verdict, questions: Sequence[Question], documents: Mapping[str, Document], count: int = 10
) -> list[Worst]:
    """Return the questions with the lowest values in the recommended configuration, lowest first."""
    result = run.results[verdict.recommended]
    scores = result.scores[verdict.metric]
    order = sorted(range(len(questions)), key=lambda n: (scores[n], n))[:count]
    return [
        Worst(questions[n], scores[n], _excerpts(questions[n], result, n, documents)) for n in order if scores[n] < 1
    ]


def _excerpts(question: Question, result: Result, n: int, documents: Mapping[str, Document]) -> list[Excerpt]:
    """Show each reference, then each answer that no reference has shown, in its document."""
    answers = list(result.answers[n])
    wanted = [reference.places[0] for reference in question.references]
    excerpts: list[Excerpt] = []
    shown: list[Place] = []
    for place in (*wanted, *answers):
        if any(_overlap(place, other) for other in shown):
            continue
        text = documents[place.path].text
        window = Place(place.path, max(0, place.start - AROUND), min(len(text), place.end + AROUND))
        excerpts.append(_excerpt(documents[place.path], window, wanted, answers))
        shown.append(window)
    return excerpts


def _excerpt(document: Document, window: Place, wanted: Sequence[Place], answers: Sequence[Place]) -> Excerpt:
    borders = {window.start, window.end}
    for place in (*wanted, *answers):
        if place.path == window.path:
            borders |= {at for at in (place.start, place.end) if window.start < at < window.end}
    cuts = sorted(borders)
    parts = [
        Marked(document.text[start:end], _mark(Place(window.path, start, end), wanted, answers))
        for start, end in zip(cuts, cuts[1:], strict=False)  # noqa: RUF007 (pairwise would hide the last border)
    ]
    inner = next((start for start, part in zip(cuts, parts, strict=False) if part.mark), window.start)
    label = locate(document, inner, min(inner + 1, window.end)).label
    return Excerpt(f"{window.path} {label}".strip(), parts)


def _mark(part: Place, wanted: Sequence[Place], answers: Sequence[Place]) -> str:
    is_wanted = any(_overlap(part, place) for place in wanted)
    is_returned = any(_overlap(part, place) for place in answers)
    return {(True, True): "found", (True, False): "missed", (False, True): "extra"}.get((is_wanted, is_returned), "")


def _overlap(one: Place, other: Place) -> bool:
    return one.path == other.path and max(one.start, other.start) < min(one.end, other.end)


def _title(metric: str, k: int) -> str:
    """Return ``recall k=5`` for a metric of the first passages, the name itself for one of characters."""
    name, _, at = metric.partition("@")
    name = {"iou": "IoU", "ndcg": "nDCG"}.get(name, name)
    return f"{name} k={k}" if at == "k" else f"{name}@{at}"


def _flat(values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    def columns() -> Iterator[tuple[str, float]]:
        for name, interval in values.items():
            yield name, interval["mean"]
            yield f"{name} low", interval["low"]
            yield f"{name} high", interval["high"]

    return dict(columns())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
