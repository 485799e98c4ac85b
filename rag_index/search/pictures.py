"""Pictures of PDF pages."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SCALE = 1.5
"""Pixels a point: readable text at some 100 kB a page."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as PNG; width and height in points."""

    png: bytes
    width: float
    height: float


def page_picture(path: Path, number: int) -> Picture | None:
    """Return page `number` (1-based) of the PDF file `path`, or None where it can't be drawn.

    The page is drawn without its rotation, as the coordinates of `Rect` are.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
        try:
            page = document[number - 1]
            page.set_rotation(0)
            width, height = page.get_size()
            pixels = page.render(scale=SCALE, rev_byteorder=True).to_numpy()[:, :, :3]
        finally:
            document.close()
    except (pypdfium2.PdfiumError, OSError, IndexError, ValueError):
        return None
    return Picture(_png(np.ascontiguousarray(pixels)), float(width), float(height))


def _png(pixels: np.ndarray) -> bytes:
    """Pack rows of RGB bytes, shape (height, width, 3), as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + width * 3), np.uint8)  # a leading 0 in each row: no filter
    rows[:, 1:] = pixels.reshape(height, width * 3)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
