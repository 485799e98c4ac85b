"""What a person sees of an evaluation: the table, the verdict, what to beware of; and the files that it writes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rag_index.cli.terminal import BOLD, DIM, GREEN, RED, note, paint, safe, say, say_json
from rag_index.errors import UsageError
from rag_index.evaluate import Labels, Run, Verdict
from rag_index.evaluate.adopt import adopt
from rag_index.evaluate.charts import CHARTS, chart
from rag_index.evaluate.drawing import png as as_png
from rag_index.evaluate.gate import Check
from rag_index.evaluate.gate import to_dict as checks_to_dict
from rag_index.evaluate.labels import question_line
from rag_index.evaluate.page import html as as_html
from rag_index.evaluate.questions import make_questions
from rag_index.evaluate.report import table, to_csv, to_dict
from rag_index.evaluate.verdict import condensed
from rag_index.types import Document


def show(run: Run, verdict: Verdict, checks: Sequence[Check], *, as_json: bool, quiet: bool) -> None:
    """Print a run and what follows from it."""
    if as_json:
        say_json({**to_dict(run, verdict), "checks": checks_to_dict(checks)})
        return
    header, rows = table(run, verdict)
    _show_table(header, rows)
    say()
    for number, sentence in enumerate(verdict.sentences):
        say(paint(safe(sentence), BOLD) if number == 0 else safe(sentence))
    for message in condensed(verdict.warnings):
        note(f"{paint('warning:', BOLD, sys.stderr)} {safe(message)}", quiet=quiet)
    for check in checks:
        word = paint("pass", GREEN) if check.passed else paint("fail", RED)
        say(f"{word} {safe(check.message)}")
    say(
        paint(
            f"{len(run.questions)} questions, {run.documents} documents, {run.embedded:,} texts embedded, "
            f"{run.reused:,} known, {run.seconds:.1f} s",
            DIM,
        )
    )


def show_questions(documents: Mapping[str, Document], count: int, *, quiet: bool) -> None:
    """Print made questions as JSON lines, and on stderr what they are good for."""
    questions = make_questions(documents, count)
    for question in questions:
        say(question_line(question, documents))
    note(
        f"{len(questions)} questions made from {len(documents)} documents. They show whether a chunking keeps together "
        "what belongs together; they share words with their answers, so they flatter keyword search. Read them, throw "
        "out the poor ones, and add questions that people asked.",
        quiet=quiet,
    )


def write_files(
    run: Run,
    verdict: Verdict,
    labels: Labels,
    documents: Mapping[str, Document],
    *,
    html: Path | None,
    png: Path | None,
    csv: Path | None,
    save: Path | None,
    write: Path | None,
) -> None:
    """Write what was asked for. Raises UsageError where a file can't be written."""
    if html:
        _write(html, as_html(run, verdict, labels.questions, documents).encode("utf-8", "xmlcharrefreplace"))
    if csv:
        _write(csv, to_csv(run).encode("utf-8", "backslashreplace"))
    if png:
        for name in CHARTS:
            _write(png / f"{name}.png", as_png(chart(name, run, verdict)))
    if save:
        run.save(save)
    if write:
        adopt(run.results[verdict.recommended].cell, write)


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}", "Choose another place for it.") from error


def _show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns of the width of their widest text: names to the left, numbers to the right."""
    widths = [max(len(line[column]) for line in (header, *rows)) for column in range(len(header))]
    for number, line in enumerate((header, *rows)):
        texts = [
            safe(text).ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        whole = "  ".join(texts).rstrip()
        say(paint(whole, DIM) if number == 0 else paint(whole, GREEN) if whole.startswith("*") else whole)
