"""What a build did, in the shape that `rag-index build --json` prints."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from rag_index.store import LanguageRow
from rag_index.types import Ledger, Warn


@dataclass(slots=True)
class Skipped:
    """A file that is not searchable, and why."""

    path: str
    status: str
    reason: str


@dataclass(slots=True)
class FileCounts:
    """Files: `seen` is the sum of `indexed`, `unchanged` and `skipped`; `removed` ones were not seen."""

    seen: int = 0
    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0


@dataclass(slots=True)
class ChunkCounts:
    """Chunks: how many are live now; how many different from before came and went."""

    live: int = 0
    added: int = 0
    removed: int = 0


@dataclass(slots=True)
class BuildReport:
    """What a build did; of a dry run, what it would do.

    Attributes:
        index: Folder of the index.
        files: Files by what became of them.
        chunks: Chunks that are live, came and went.
        embedded: Different texts that the model read.
        reused: Different texts whose vectors were there already.
        tokens: Ledger of all live chunks.
        skipped: Files that are not searchable, by path.
        languages: What is live in each language, most tokens first.
        warnings: What a person should know: languages that the model can't read, ...
        model: Name of the model; "" if none was needed and none is known.
        engine: What ran it.
        seconds: Wall time.
    """

    index: str
    files: FileCounts = field(default_factory=FileCounts)
    chunks: ChunkCounts = field(default_factory=ChunkCounts)
    embedded: int = 0
    reused: int = 0
    tokens: Ledger = field(default_factory=Ledger)
    skipped: list[Skipped] = field(default_factory=list)
    languages: list[LanguageRow] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)
    model: str = ""
    engine: str = ""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)
