"""Texts to cut: real ones from a folder, else paragraphs made of the labelled sentences of the tests."""

from __future__ import annotations

import json
import random
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = ROOT / "tests" / "data" / "sentences"
SHARED = ROOT.parent / "shared" / "data"
LANGUAGES = ("en", "fr", "pt", "ja")
QUESTIONS = {
    "en": "xquad/xquad.en.json",
    "es": "xquad/xquad.es.json",
    "zh": "xquad/xquad.zh.json",
    "ja": "jsquad/valid-v1.3.json",
}


def text_of(language: str, size: int, folder: Path | None) -> str:
    """Return `size` code points of a language: ``folder/LANGUAGE.txt`` repeated, or made up (seeded)."""
    whole = (folder / f"{language}.txt").read_text(encoding="utf-8") if folder else made_up(language)
    return (whole + "\n\n") * (size // len(whole)) + whole[: size % len(whole)]


def made_up(language: str) -> str:
    """Return some 300,000 code points: hard-wrapped paragraphs, headings, lists, long lines."""
    lines = (SENTENCES / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    sentences = [line for line in lines if line and not line.startswith(("⏎", "#"))]
    choose = random.Random(7)
    joint = "" if language == "ja" else " "
    parts, size = [], 0
    while size < 300_000:
        body = joint.join(choose.choices(sentences, k=choose.randint(2, 12)))
        kind = choose.random()
        if kind < 0.1:
            part = f"## {choose.choice(sentences)}"
        elif kind < 0.2:
            part = "\n".join(f"- {line}" for line in choose.choices(sentences, k=5))
        elif kind < 0.5:
            part = body
        else:
            part = textwrap.fill(body, 36 if language == "ja" else 72)
        parts.append(part)
        size += len(part) + 2
    return "\n\n".join(parts)


def labelled(language: str) -> tuple[str, list[int]]:
    """Return the labelled text and where its sentences end (the format is that of the tests)."""
    text, ends = "", []
    for paragraph in (SENTENCES / f"{language}.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        joint = "\n\n" if text else ""
        for line in paragraph.split("\n"):
            text += ("\n" if line.startswith("⏎") else joint) + line.removeprefix("⏎")
            ends.append(len(text))
            joint = "" if language == "ja" else " "
    return text, ends


def articles(language: str) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Yield each article of a question set, its paragraphs joined by blank lines, with its answers and their places."""
    for article in json.loads((SHARED / QUESTIONS[language]).read_bytes())["data"]:
        text, answers = "", []
        for paragraph in article["paragraphs"]:
            base = len(text)
            text += paragraph["context"] + "\n\n"
            answers += [
                (base + answer["answer_start"], answer["text"])
                for question in paragraph["qas"]
                for answer in question["answers"][:1]
            ]
        yield text, answers
