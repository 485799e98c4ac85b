"""Checksums of the files that Chroma's native code reads without looking."""

from __future__ import annotations

import zlib
from pathlib import Path

from rag_index.errors import IndexDamagedError
from rag_index.store.layout import REPAIR


def digests(folder: Path) -> dict[str, list[int]]:
    """Return size and checksum of the files of Chroma's graphs: opening them must not crash, and doesn't change them.

    The database is left out: a mere open writes to it. So is a graph that was never written out.
    """
    found: dict[str, list[int]] = {}
    for names in folder.glob("*/index_metadata.pickle"):
        for path in sorted(names.parent.iterdir()):
            found[path.relative_to(folder).as_posix()] = [path.stat().st_size, _crc(path)]
    return found


def _crc(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while data := file.read(1 << 22):
            crc = zlib.crc32(data, crc)
    return crc


def check_digests(folder: Path, files: dict[str, list[int]]) -> None:
    """Raise IndexDamagedError unless the graphs in `folder` are as they were published."""
    for name, (size, crc) in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size or _crc(path) != crc:
            raise IndexDamagedError(f"{path} is damaged", REPAIR)
