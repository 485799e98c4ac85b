"""Reads the labelled sentences: a line is a sentence, a blank line a paragraph, ``⏎`` a new line in the text."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "data" / "sentences"
LANGUAGES = ("en", "fr", "pt", "ja")


def load(language: str) -> tuple[str, list[int]]:
    """Return a text and where its sentences end."""
    text, ends = "", []
    for paragraph in (FOLDER / f"{language}.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        joint = "\n\n" if text else ""
        for line in paragraph.split("\n"):
            text += ("\n" if line.startswith("⏎") else joint) + line.removeprefix("⏎")
            ends.append(len(text))
            joint = "" if language == "ja" else " "
    return text, ends


def f1(gold: list[int], found: list[int]) -> float:
    """Return the harmonic mean of precision and recall of borders."""
    both = len({*gold} & {*found})
    return 2 * both / (len({*gold}) + len({*found}))
