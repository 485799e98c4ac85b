"""Which documents and chunks a filter lets answer."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_index.store.rows import HEADING_SEPARATOR, PATH_SEPARATOR, DocumentRow
from rag_index.types import Filter

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Chosen:
    """The chunks that a filter lets through: ids ascending, with the row of each one's vector."""

    chunks: NDArray[np.int64]
    slots: NDArray[np.int64]
    texts: NDArray[np.int64]

    @cached_property
    def ids(self) -> frozenset[int]:
        """The chunk ids as a set."""
        return frozenset(self.chunks.tolist())


class Chunks:
    """All live chunks as arrays, loaded once for a snapshot (some 0.1 s for 100,000) and only when one filters."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute(
            "SELECT c.id, c.document, c.heading, t.slot, t.id FROM chunks c JOIN texts t ON t.id = c.text ORDER BY c.id"
        ).fetchall()
        table = np.array(rows, np.int64).reshape(len(rows), 5)
        self._id, self._document, self._heading, self._slot, self._text = table.T.copy()
        self._headings = connection.execute("SELECT id, path FROM headings").fetchall()

    def choose(self, documents: Iterable[int], heading: str) -> Chosen:
        """Return the chunks of `documents`, if need be only those that reach below a title that contains `heading`."""
        mask = np.isin(self._document, np.fromiter(documents, np.int64))
        if heading:
            wanted = heading.casefold()
            fits = [id_ for id_, path in self._headings if _under(path, wanted)]
            mask &= np.isin(self._heading, np.array(fits, np.int64))
        return Chosen(self._id[mask], self._slot[mask], self._text[mask])


def _under(paths: str, wanted: str) -> bool:
    titles = paths.replace(PATH_SEPARATOR, HEADING_SEPARATOR).split(HEADING_SEPARATOR)
    return any(wanted in title.casefold() for title in titles)


def matches(row: DocumentRow, where: Filter) -> bool:
    """Whether a document may answer, its headings aside."""
    if where.formats and row.format not in where.formats:
        return False
    if where.modified_since is not None and row.mtime_ns < where.modified_since * 1e9:
        return False
    meta: Any = row.meta
    if any(name not in meta or str(meta[name]) != value for name, value in where.meta):
        return False
    return not where.paths or any(glob(pattern).fullmatch(row.path) for pattern in where.paths)


def glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob over paths: ``**`` crosses folders, ``*`` and ``?`` don't; a folder stands for all below it.

    As in ``.gitignore``, a pattern without a slash matches at any depth.
    """
    pattern = pattern.removeprefix("./")
    anchored = "/" in pattern.rstrip("/")
    body = "".join(
        _translate(part) for part in re.findall(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|[^*?\[]+|\[", pattern.strip("/"))
    )
    return re.compile(f"{'' if anchored else '(?:.*/)?'}{body}(?:/.*)?", re.DOTALL)


def _translate(part: str) -> str:
    fixed = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in fixed:
        return fixed[part]
    if part.startswith("[") and part.endswith("]") and len(part) > 2:  # noqa: PLR2004 (a class with something in it)
        inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return (
            f"[^{inner[1:]}]"
            if inner[0] in "!^" and len(inner) > 1
            else f"[{re.sub('^[!^]', lambda m: chr(92) + m[0], inner)}]"
        )
    return re.escape(part)
