"""Refuse what a stranger may have put into a Chroma folder or server; imports no Chroma."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from rag_index.errors import IndexMismatchError

DATABASE = "chroma.sqlite3"
_HARMLESS = {"legacy", "unknown"}


def refuse_poisoned(folder: Path) -> None:
    """Raise if a collection in the Chroma folder names an embedding function; runs nothing.

    Raises:
        IndexMismatchError: one does.
    """
    path = folder / DATABASE
    if not path.exists():
        return
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            columns = {row[1] for row in connection.execute("PRAGMA table_info(collections)")}
            wanted = sorted(columns & {"config_json_str", "schema_str"})
            rows = connection.execute(f"SELECT {', '.join(wanted)} FROM collections").fetchall() if wanted else []
            stored = [json.loads(value) for row in rows for value in row if value]
            named = connection.execute(
                "SELECT str_value FROM collection_metadata "
                "WHERE key LIKE '%embedding_function%' AND str_value IS NOT NULL"
            ).fetchall()
    except (sqlite3.DatabaseError, ValueError, UnicodeDecodeError):
        return  # what can't be read here is damaged: whoever needs the folder finds out, and nothing is built from it
    refuse_functions([*stored, *({"embedding_function": {"name": value}} for (value,) in named)], str(folder))


def refuse_functions(values: Iterable[Any], where: str) -> None:
    """Raise IndexMismatchError if an ``embedding_function`` anywhere in `values` is one that could be built."""
    for name in (name for value in values for name in _functions(value)):
        raise IndexMismatchError(
            f"the Chroma collection {where} names an embedding function ({name!r}): opening it would run code",
            "Don't trust where it came from. Delete it, then run: rag-index check --repair",
        )


def _functions(value: Any) -> Iterable[str]:  # noqa: ANN401 (JSON)
    """Yield the names of embedding functions in nested JSON."""
    pending = [value]
    while pending:
        at = pending.pop()
        if isinstance(at, list):
            pending.extend(at)
        elif isinstance(at, dict):
            pending.extend(at.values())
            named = at.get("embedding_function")
            if named and not _harmless(named):
                yield str(named.get("name") or named.get("type")) if isinstance(named, dict) else str(named)


def _harmless(function: Any) -> bool:  # noqa: ANN401 (JSON)
    return isinstance(function, dict) and function.get("type") in _HARMLESS and not function.get("name")
