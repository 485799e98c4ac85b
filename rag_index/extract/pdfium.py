"""PDFium's functions that are called for every line and word, without ctypes' checks of each argument.

Called through pypdfium2's own prototypes they cost two and a half times as much (measured), which would be most of
the time that positions take. Handles and addresses are plain integers here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_HANDLE = ctypes.c_void_p
_INT = ctypes.c_int
_SPACE = 1 << 12


class Pdfium:
    """The functions, each named by what it gives.

    Attributes:
        raw: pypdfium2's own bindings, for all other calls.
    """

    def __init__(self) -> None:
        from pypdfium2 import raw

        self.raw: Any = raw
        self.count_chars: Callable[[int], int] = self._bind("FPDFText_CountChars", _INT, _HANDLE)
        self.unit: Callable[[int, int], int] = self._bind("FPDFText_GetUnicode", ctypes.c_uint, _HANDLE, _INT)
        self.text: Callable[[int, int, int, int], int] = self._bind(
            "FPDFText_GetText", _INT, _HANDLE, _INT, _INT, _HANDLE
        )
        self.count_rects: Callable[[int, int, int], int] = self._bind("FPDFText_CountRects", _INT, _HANDLE, _INT, _INT)
        four = (_HANDLE,) * 4
        self.rect: Callable[[int, int, int, int, int, int], int] = self._bind(
            "FPDFText_GetRect", _INT, _HANDLE, _INT, *four
        )
        self.char_box: Callable[[int, int, int, int, int, int], int] = self._bind(
            "FPDFText_GetCharBox", _INT, _HANDLE, _INT, *four
        )
        self.loose_box: Callable[[int, int, int], int] = self._bind(
            "FPDFText_GetLooseCharBox", _INT, _HANDLE, _INT, _HANDLE
        )
        self.drawn_by: Callable[[int, int], int | None] = self._bind("FPDFText_GetTextObject", _HANDLE, _HANDLE, _INT)
        self.count_drawn: Callable[[int], int] = self._bind("FPDFPage_CountObjects", _INT, _HANDLE)
        self.drawn: Callable[[int, int], int] = self._bind("FPDFPage_GetObject", _HANDLE, _HANDLE, _INT)
        self.count_inner: Callable[[int], int] = self._bind("FPDFFormObj_CountObjects", _INT, _HANDLE)
        self.inner: Callable[[int, int], int] = self._bind("FPDFFormObj_GetObject", _HANDLE, _HANDLE, _INT)
        self.kind: Callable[[int], int] = self._bind("FPDFPageObj_GetType", _INT, _HANDLE)
        self.render_mode: Callable[[int], int] = self._bind("FPDFTextObj_GetTextRenderMode", _INT, _HANDLE)
        self._space = ctypes.create_string_buffer(2 * _SPACE)
        self._floats = (ctypes.c_float * _SPACE)()

    def _bind(self, name: str, gives: Any, *takes: Any) -> Any:  # noqa: ANN401 (ctypes' types)
        address = ctypes.cast(getattr(self.raw, name), ctypes.c_void_p).value or 0
        return ctypes.PYFUNCTYPE(gives, *takes)(address)

    def units(self, characters: int, start: int, count: int) -> bytes | None:
        """Return the UTF-16 units of some characters, or None when some of them have no Unicode value."""
        if 2 * (count + 1) > len(self._space):
            self._space = ctypes.create_string_buffer(4 * (count + 1))
        written = self.text(characters, start, count, ctypes.addressof(self._space))
        return ctypes.string_at(self._space, 2 * count) if written == count + 1 else None

    def floats(self, count: int) -> tuple[Any, int]:
        """Return an array of at least `count` numbers, good until the next call, and its address."""
        if count > len(self._floats):
            self._floats = (ctypes.c_float * (2 * count))()
        return self._floats, ctypes.addressof(self._floats)


@lru_cache(maxsize=1)
def pdfium() -> Pdfium:
    """Load PDFium once."""
    import pypdfium2  # noqa: F401 (initialises the library)

    return Pdfium()


def address(handle: Any) -> int:  # noqa: ANN401 (a PDFium handle)
    """Return a handle as a plain integer."""
    return ctypes.cast(handle, ctypes.c_void_p).value or 0
