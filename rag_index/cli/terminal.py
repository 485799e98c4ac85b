"""Writing to the terminal: JSON, plain text made safe, colours, notes and progress."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_index.types import Event, Reporter

MARK, DIM, BOLD, GREEN, RED = "1;33", "2", "1", "32", "1;31"
"""Colours by what they are for (parameters of the escape sequence SGR)."""

# What a document may hold and a terminal would obey: C0 and C1 controls but tab and newline, and the characters
# that turn the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    """Return `text` with control characters written as escapes, so that a document can't drive the terminal."""
    return _CONTROL.sub(_escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]


def coloured(stream: IO[str]) -> bool:
    """Whether colours may go to `stream`: a terminal that knows them, and nobody said no (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream: IO[str] | None = None) -> str:
    """Return `text` in `colour` where `stream` (stdout) takes colours."""
    return f"\x1b[{colour}m{text}\x1b[0m" if text and coloured(stream or sys.stdout) else text


def mark(text: str) -> str:
    """Return `text` marked: in colour, or between double brackets where there is none."""
    return paint(text, MARK) if coloured(sys.stdout) else f"[[{text}]]"


def say(text: str = "") -> None:
    """Print a line on stdout."""
    print(text)


def note(text: str, *, quiet: bool = False) -> None:
    """Print a line for the person, on stderr."""
    if not quiet:
        print(text, file=sys.stderr)


def to_json(value: Any, *, pretty: bool = False) -> str:  # noqa: ANN401 (any JSON value)
    """Return `value` as JSON text; characters stay as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2 if pretty else None)


def say_json(value: Any) -> None:  # noqa: ANN401 (any JSON value)
    """Print one JSON object on stdout, indented: people read it too."""
    say(to_json(value, pretty=True))


def say_json_line(value: Any) -> None:  # noqa: ANN401 (any JSON value)
    """Print one JSON object on one line, and send it on at once: whoever reads may be waiting."""
    print(to_json(value), flush=True)


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Reporter]:
    """Give a reporter that draws bars with the time left on stderr: only on a terminal, and gone at the end.

    Warnings are lines of their own, and stay; `quiet` doesn't silence them.
    """
    if quiet or not sys.stderr.isatty():
        yield _warn
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(event: Event) -> None:
            if event.stage == "warning":
                bars.console.print(_warning(event), markup=False, highlight=False, soft_wrap=True)
                return
            if event.stage not in tasks:
                tasks[event.stage] = bars.add_task(event.stage, total=None, note="")
            note = safe(event.note).replace("[", r"\[")
            bars.update(tasks[event.stage], completed=event.done, total=event.total, note=note)

        yield report


def _warn(event: Event) -> None:
    if event.stage == "warning":
        note(_warning(event))


def _warning(event: Event) -> str:
    return f"warning: {safe(event.note)}"
