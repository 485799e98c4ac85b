"""A run as one HTML file that needs nothing else: no script, no font, no image from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from rag_index.evaluate.charts import chart
from rag_index.evaluate.drawing import svg
from rag_index.evaluate.labels import Question
from rag_index.evaluate.report import TARGET, Worst, by_tag, characters_for, table, worst
from rag_index.evaluate.run import Run
from rag_index.evaluate.verdict import Verdict, condensed
from rag_index.types import Document

STYLE = """
:root { --ink: #1f2430; --muted: #667085; --line: #e3e6ec; --ground: #f7f8fa; color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; }
.lead { color: var(--muted); margin: 0 0 1.2rem; }
.scroll { overflow-x: auto; }
.verdict, .warnings { border-left: 4px solid #0072b2; background: #eaf3fb; border-radius: 0 6px 6px 0; }
.verdict, .warnings { padding: .7rem 1rem; }
.verdict p { margin: .2rem 0; }
.verdict p:first-child { font-weight: 600; }
.warnings { background: #fff7e6; border-color: #e69f00; margin-top: 1rem; }
.warnings ul { margin: 0; padding-left: 1.1rem; }
table { border-collapse: collapse; font-size: .82rem; width: 100%; }
th, td { padding: .35rem .45rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
th { color: var(--muted); font-weight: 500; border-bottom-width: 2px; }
td { font-variant-numeric: tabular-nums; }
tr.take td { background: #fdf1e7; font-weight: 600; }
table.narrow { width: auto; }
svg { max-width: 100%; height: auto; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .8rem; }
summary { cursor: pointer; }
summary b { font-variant-numeric: tabular-nums; margin-right: .6rem; }
.where { color: var(--muted); font-size: .82rem; margin: .8rem 0 .2rem; }
pre { background: var(--ground); padding: .6rem .8rem; border-radius: 6px; margin: 0; font-size: .82rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
mark { border-radius: 3px; padding: 0 1px; }
mark.found { background: #b7e4c7; }
mark.missed { background: #ffc9c9; }
mark.extra { background: #fff3bf; }
.key mark { margin-right: .8rem; padding: .1rem .4rem; }
"""
NOTE_ON_TIMES = "Builds take known vectors from the cache; query times leave out the embedding of the question."


def html(run: Run, verdict: Verdict, questions: Sequence[Question], documents: Mapping[str, Document]) -> str:
    """Return the report as one self-contained page; all text from documents is escaped."""
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Retrieval on {len(questions)} questions</title><style>{STYLE}</style></head><body>",
        "<h1>What the chunks buy</h1>",
        f'<p class="lead">{_lead(run)}</p>',
        f'<section class="verdict">{"".join(f"<p>{escape(text)}</p>" for text in verdict.sentences)}</section>',
        *_warnings(verdict),
        "<h2>All configurations</h2>",
        _table(run, verdict),
        "<h2>Recall against characters read</h2>",
        svg(chart("curves", run, verdict)),
        *_grid_charts(run, verdict),
        *_tags(run, verdict, questions),
        *_worst(worst(run, verdict, questions, documents), verdict),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _lead(run: Run) -> str:
    return (
        f"{len(run.questions)} questions on {run.documents} documents ({run.characters:,} characters); "
        f"values in percent, 95 % intervals by bootstrap over the questions; the characters of a repeated text "
        f"are charged once. “At k” means the first {run.measure.k} passages."
    )


def _warnings(verdict: Verdict) -> Iterator[str]:
    if verdict.warnings:
        items = "".join(f"<li>{escape(message)}</li>" for message in condensed(verdict.warnings))
        yield f'<section class="warnings"><ul>{items}</ul></section>'


def _table(run: Run, verdict: Verdict) -> str:
    header, rows = table(run, verdict)
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr{' class=take' if n == verdict.recommended else ''}>"
        + "".join(f"<td>{escape(text.removeprefix('* '))}</td>" for text in row)
        + "</tr>"
        for n, row in enumerate(rows)
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _grid_charts(run: Run, verdict: Verdict) -> Iterator[str]:
    if len(run.results) > 1:
        yield "<h2>Size and overlap</h2>"
        yield f'<div class="scroll">{svg(chart("heat", run, verdict))}</div>'
        yield "<h2>Quality and cost</h2>"
        yield svg(chart("costs", run, verdict))
        yield _costs(run, verdict)


def _costs(run: Run, verdict: Verdict) -> str:
    names = [
        "configuration",
        "characters for 80 %",
        "chunks",
        "stored ÷ corpus",
        "vectors, MB",
        "build s",
        "query ms",
        "p95 ms",
    ]
    head = "".join(f"<th>{name}</th>" for name in names)
    body = []
    for n, result in enumerate(run.results):
        costs = result.costs
        needed = characters_for(run, n, TARGET)
        values = [
            run.names[n],
            "never" if needed is None else f"{needed:,}",
            f"{costs.chunks:,}",
            f"{costs.stored:.2f}",
            f"{costs.vector_bytes / 1e6:.1f}",
            f"{costs.build_seconds:.1f}",
            f"{costs.query_ms:.1f}",
            f"{costs.query_p95_ms:.1f}",
        ]
        mark = " class=take" if n == verdict.recommended else ""
        body.append(f"<tr{mark}>" + "".join(f"<td>{escape(value)}</td>" for value in values) + "</tr>")
    note = f'<p class="lead">{NOTE_ON_TIMES}</p>'
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>{note}'
    )


def _tags(run: Run, verdict: Verdict, questions: Sequence[Question]) -> Iterator[str]:
    rows = by_tag(run, verdict, questions)
    if rows:
        yield f"<h2>By kind of question: {escape(verdict.metric)} of {escape(run.names[verdict.recommended])}</h2>"
        body = "".join(f"<tr><td>{escape(tag)}</td><td>{count}</td><td>{value}</td></tr>" for tag, count, value in rows)
        head = "<tr><th>tag</th><th>questions</th><th>value</th></tr>"
        yield f'<table class="narrow"><thead>{head}</thead><tbody>{body}</tbody></table>'


def _worst(entries: Sequence[Worst], verdict: Verdict) -> Iterator[str]:
    name = verdict.standings[verdict.recommended].name
    yield f"<h2>Where {escape(name)} fails</h2>"
    if not entries:
        yield "<p>Every question is answered in full.</p>"
        return
    yield (
        '<p class="lead key"><mark class="found">wanted and returned</mark> <mark class="missed">wanted, not among the '
        'first passages</mark> <mark class="extra">returned, not wanted</mark></p>'
    )
    for entry in entries:
        yield f"<details open><summary><b>{100 * entry.value:.0f} %</b>{escape(entry.question.text)}</summary>"
        for excerpt in entry.excerpts:
            marked = "".join(
                f'<mark class="{part.mark}">{escape(part.text)}</mark>' if part.mark else escape(part.text)
                for part in excerpt.parts
            )
            yield f'<p class="where">{escape(excerpt.where)}</p><pre>{marked}</pre>'
        yield "</details>"
