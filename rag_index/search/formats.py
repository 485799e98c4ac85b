"""Passages as text for other programs: CSV, Markdown, a list of files, a prompt for a language model."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence

from rag_index.errors import UnknownNameError
from rag_index.types import Passage

COLUMNS = ("rank", "score", "path", "start", "end", "page", "line", "heading", "text")


def as_csv(_question: str, passages: Sequence[Passage]) -> str:
    """Return a table with a heading line; RFC 4180, so text may hold commas, quotes and line breaks."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for rank, each in enumerate(passages, 1):
        place = each.location
        heading = " > ".join(place.heading)
        writer.writerow(
            [
                rank,
                f"{each.score:.4f}",
                _safe(each.path),
                each.start,
                each.end,
                place.page,
                place.line,
                heading,
                each.text,
            ]
        )
    return out.getvalue()


def as_markdown(question: str, passages: Sequence[Passage]) -> str:
    """Return a page with each passage as a quotation under its place."""
    parts = [f"# {_one_line(question)}\n"]
    for rank, each in enumerate(passages, 1):
        quoted = "\n".join(f"> {line}" if line.strip() else ">" for line in each.text.splitlines())
        parts.append(f"## {rank}. `{_place(each)}`\n\n{quoted}\n\nScore {each.score:.2f}{_note(each)}\n")
    return "\n".join(parts)


def as_files(_question: str, passages: Sequence[Passage]) -> str:
    """Return the paths, one a line, best first, each once."""
    return "".join(f"{_safe(path)}\n" for path in dict.fromkeys(each.path for each in passages))


def as_prompt(question: str, passages: Sequence[Passage]) -> str:
    """Return a prompt: numbered passages with their places, then the question and how to cite."""
    if not passages:
        return f"No passage of the documents answers this.\n\nQuestion: {_one_line(question)}\n"
    parts = [
        "Answer from these passages only. Cite them as [1], [2] after each statement. Say so if they don't answer.\n"
    ]
    for rank, each in enumerate(passages, 1):
        heading = f" ({' > '.join(each.location.heading)})" if each.location.heading else ""
        parts.append(f"[{rank}] {_place(each)}{heading}{_note(each)}\n{each.text}\n")
    parts.append(f"Question: {_one_line(question)}\n")
    return "\n".join(parts)


FORMATS: Mapping[str, Callable[[str, Sequence[Passage]], str]] = {
    "csv": as_csv,
    "md": as_markdown,
    "files": as_files,
    "prompt": as_prompt,
}


def check_format(name: str) -> None:
    """Raise UnknownNameError for a name that is neither a format nor empty."""
    if name and name not in FORMATS:
        raise UnknownNameError.named("format", name, FORMATS)


def formatted(name: str, question: str, passages: Sequence[Passage]) -> str:
    """Return passages in the format `name`.

    Raises:
        UnknownNameError: there is no such format.
    """
    check_format(name)
    return FORMATS[name](question, passages)


def _place(passage: Passage) -> str:
    label = passage.location.label
    return _safe(f"{passage.path}, {label}" if label else passage.path)


def _note(passage: Passage) -> str:
    return f" ({passage.note})" if passage.note else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _safe(path: str) -> str:
    """Return a path that can be printed; bytes that were no text and control characters are written as escapes."""
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in shown)
