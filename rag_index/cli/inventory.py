"""What an index holds, counted for `status`."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rag_index.pipeline.languages import knows
from rag_index.store import DocumentRow, Snapshot


def take(index: Path, snapshot: Snapshot) -> dict[str, Any]:
    """Return the counts, settings and faults of the index in the folder `index`, ready for JSON."""
    info, rows = snapshot.info, snapshot.documents()
    searchable = [row for row in rows if row.status.searchable]
    model = info.model
    return {
        "index": str(index),
        "root": str(info.root),
        "generation": info.generation,
        "built_at": info.built_at.isoformat() if info.built_at else None,
        "documents": {
            "searchable": len(searchable),
            "by_status": dict(sorted(Counter(str(row.status) for row in rows).items())),
            "by_format": dict(sorted(Counter(row.format for row in searchable).items())),
        },
        "languages": [{**asdict(row), "known": knows(model, row)} for row in snapshot.by_language()],
        "chunks": {"live": info.counts.chunks, "texts": info.counts.texts},
        "tokens": asdict(info.ledger),
        "bytes": _sizes(index),
        "chunker": asdict(info.settings.chunk),
        "model": {
            "name": model.name,
            "fingerprint": model.fingerprint,
            "dimension": model.dimension,
            "max_tokens": model.max_tokens,
            "engine": model.engine,
            "precision": model.precision,
        },
        "last_build": dict(info.last),
        "not_searchable": [
            {"path": row.path, "status": row.status, "reason": row.reason} for row in rows if row.status != "ok"
        ],
        "changed": _changed(info.root, rows),
    }


def _sizes(index: Path) -> dict[str, int]:
    """Return bytes by part: SQLite, vectors, Chroma, the rest."""
    sizes = {"texts": 0, "vectors": 0, "chroma": 0, "other": 0}
    for file in index.rglob("*"):
        with suppress(FileNotFoundError):  # a build that goes on beside us may tidy up
            if file.is_file():
                sizes[_part(file.relative_to(index))] += file.stat().st_size
    return {**sizes, "all": sum(sizes.values())}


def _part(file: Path) -> str:
    if any(part.startswith("chroma") for part in file.parts):
        return "chroma"
    if file.suffix == ".f32":
        return "vectors"
    return "texts" if file.name.partition("-")[0].endswith(".sqlite") else "other"


def _changed(root: Path, rows: list[DocumentRow]) -> list[dict[str, str]]:
    """Return the files that are gone or look different from what was read; new files aren't looked for."""
    changed = []
    for row in rows:
        if not row.origin:
            continue
        try:
            now = (root / row.path).stat()
        except OSError:
            changed.append({"path": row.path, "change": "gone"})
            continue
        if (now.st_size, now.st_mtime_ns) != (row.size, row.mtime_ns):
            changed.append({"path": row.path, "change": "modified"})
    return changed
