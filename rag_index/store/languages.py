"""How much of an index is in which language."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """What an index holds in one language.

    Attributes:
        language: ISO 639-1 code, or "" where it was not recognised.
        documents: Searchable documents.
        tokens: Tokens in their chunks, as the model counts them.
        unknown: Those that the model doesn't know.
    """

    language: str
    documents: int = 0
    tokens: int = 0
    unknown: int = 0


def read_languages(connection: sqlite3.Connection) -> list[LanguageRow]:
    """Return one row a language, most tokens first; documents without a chunk are left out."""
    rows = connection.execute("SELECT language, 1, seen, unknown FROM documents WHERE seen > 0")
    return add_up(LanguageRow(*row) for row in rows)


def add_up(rows: Iterable[LanguageRow]) -> list[LanguageRow]:
    """Return one row a language, most tokens first."""
    sums: dict[str, LanguageRow] = {}
    for row in rows:
        so_far = sums.get(row.language, LanguageRow(row.language))
        sums[row.language] = LanguageRow(
            row.language,
            so_far.documents + row.documents,
            so_far.tokens + row.tokens,
            so_far.unknown + row.unknown,
        )
    return sorted(sums.values(), key=lambda row: (-row.tokens, row.language))
