"""A PDF page as a picture, with places marked on it."""

from __future__ import annotations

import ctypes
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_index.extract.pdf import opened
from rag_index.extract.pdfchars import Edges
from rag_index.extract.pdfium import pdfium
from rag_index.extract.pdfpage import passage_boxes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_PIXELS = 25_000_000
_POINTS_AN_INCH = 72
_SHADE = 0.35
_OUTLINE = 2


@dataclass(frozen=True, slots=True)
class Mark:
    """A rectangle to draw.

    Attributes:
        box: Where, in points.
        colour: Red, green, blue, 0 to 255.
        filled: Shade all of it, as a highlighter does; else draw its outline.
    """

    box: Edges
    colour: tuple[int, int, int]
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """What to draw of one page.

    Attributes:
        page: Its 1-based number.
        marks: Rectangles whose places are known.
        text: The text that the page is thought to have.
        spans: Spans of `text` to highlight, letter by letter: if the page still has that text.
        colour: Of these spans.
        dpi: Pixels an inch; lowered where the picture would be too large.
    """

    page: int
    marks: tuple[Mark, ...] = ()
    text: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    colour: tuple[int, int, int] = (255, 200, 0)
    dpi: float = 110


def draw(data: bytes, drawing: Drawing) -> bytes:
    """Return the picture as PNG; nothing (``b""``) when the file can't be opened or has no such page."""
    with opened(data) as document:
        if isinstance(document, int):
            return b""
        index = drawing.page - 1
        exact = passage_boxes(document, index, drawing.text, drawing.spans) if drawing.spans else None
        marks = drawing.marks
        if exact is not None:
            marks = tuple(Mark(box, drawing.colour, filled=True) for box in exact)
        raw = pdfium().raw
        page = raw.FPDF_LoadPage(document, index)
        if not page:
            return b""
        try:
            return _picture(page, marks, drawing.dpi)
        finally:
            raw.FPDF_ClosePage(page)


def _picture(page: Any, marks: Sequence[Mark], dpi: float) -> bytes:  # noqa: ANN401 (a PDFium handle)
    import numpy as np

    raw = pdfium().raw
    wide, high = raw.FPDF_GetPageWidthF(page), raw.FPDF_GetPageHeightF(page)
    scale = min(dpi / _POINTS_AN_INCH, (_MOST_PIXELS / max(wide * high, 1)) ** 0.5)
    width, height = max(round(wide * scale), 1), max(round(high * scale), 1)
    bitmap = raw.FPDFBitmap_Create(width, height, 0)
    try:
        raw.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, raw.FPDF_ANNOT)
        stride = raw.FPDFBitmap_GetStride(bitmap)
        pixels = ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        raw.FPDFBitmap_Destroy(bitmap)
    blue_first = np.frombuffer(pixels, np.uint8).reshape(height, stride // 4, 4)
    image = np.ascontiguousarray(blue_first[:, :width, 2::-1])
    for mark in marks:
        _mark(image, mark, _on_picture(page, mark.box, width, height))
    return _png(image)


def _on_picture(page: Any, box: Edges, width: int, height: int) -> tuple[int, int, int, int]:  # noqa: ANN401
    """Return left, top, right, bottom in pixels; the page's rotation is PDFium's business."""
    x, y = ctypes.c_int(), ctypes.c_int()
    corners = []
    for across, up in ((box[0], box[1]), (box[2], box[3])):
        pdfium().raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, across, up, ctypes.byref(x), ctypes.byref(y))
        corners.append((x.value, y.value))
    (a, b), (c, d) = corners
    return max(min(a, c), 0), max(min(b, d), 0), min(max(a, c) + 1, width), min(max(b, d) + 1, height)


def _mark(image: NDArray[np.uint8], mark: Mark, place: tuple[int, int, int, int]) -> None:
    import numpy as np

    left, top, right, bottom = place
    area = image[top:bottom, left:right]
    if mark.filled:
        shade = np.asarray(mark.colour, np.float32) / 255
        # Multiplied like ink, so that black letters stay black.
        area[:] = (area * (1 - _SHADE + _SHADE * shade) ** 2).astype(np.uint8)
        return
    for edge in (area[:_OUTLINE], area[-_OUTLINE:], area[:, :_OUTLINE], area[:, -_OUTLINE:]):
        edge[:] = mark.colour


def _png(image: NDArray[np.uint8]) -> bytes:
    """Return an RGB image as PNG."""
    height, width, _ = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
