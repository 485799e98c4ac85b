"""What the user's cache folder holds: vectors that were made before, and converted models."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rag_index.embed.cache import LIMIT_MB, VectorCache, cache_folder


@dataclass(frozen=True, slots=True)
class KeptModel:
    """A converted model: its name, its size, and where it is."""

    name: str
    mb: float
    folder: Path


@dataclass(frozen=True, slots=True)
class Kept:
    """The contents of the cache folder.

    Attributes:
        folder: Where it is; it need not exist.
        vectors: How many vectors are kept.
        vectors_mb: Megabytes they take.
        limit_mb: Megabytes they may take before the oldest are dropped.
        models: Converted models, by name.
    """

    folder: Path
    vectors: int
    vectors_mb: float
    limit_mb: float
    models: tuple[KeptModel, ...]


def look() -> Kept:
    """Return what is kept; nothing is made."""
    folder = cache_folder()
    vectors, vectors_mb = 0, 0.0
    if (folder / "vectors.sqlite").is_file():
        with VectorCache() as cache:
            vectors, vectors_mb = len(cache), cache.size_mb()
    models = [_model(path) for path in sorted(_conversions(folder))]
    return Kept(folder, vectors, vectors_mb, LIMIT_MB, tuple(sorted(models, key=lambda model: model.name)))


def prune(limit_mb: float) -> int:
    """Drop the vectors that were not used for longest until `limit_mb` are left; returns how many."""
    if not (cache_folder() / "vectors.sqlite").is_file():
        return 0
    with VectorCache() as cache:
        return cache.prune(limit_mb)


def clear() -> None:
    """Remove all vectors, converted models and remembered digests; they are made again when they are needed."""
    folder = cache_folder()
    for path in _conversions(folder):
        shutil.rmtree(path, ignore_errors=True)
    for name in ("vectors.sqlite", "vectors.sqlite-wal", "vectors.sqlite-shm", "digests.json"):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def _conversions(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in (folder / "models").iterdir() if path.is_dir()]
    return []


def _model(folder: Path) -> KeptModel:
    name = "unfinished"
    with suppress(OSError, ValueError, KeyError):
        name = str(json.loads((folder / "about.json").read_bytes())["name"])
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    return KeptModel(name, size / 1e6, folder)
