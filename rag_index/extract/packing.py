"""Numbers and strings as few bytes: LEB128, seven bits a byte, signed ones in zigzag order; and whole columns."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence

_ONE_BYTE = 127


class Packer:
    """Appends numbers and strings to ``data``."""

    def __init__(self) -> None:
        self.data = bytearray()

    def number(self, value: int) -> None:
        """Append a number >= 0."""
        while value > 0x7F:  # noqa: PLR2004
            self.data.append(value & 0x7F | 0x80)
            value >>= 7
        self.data.append(value)

    def signed(self, value: int) -> None:
        """Append any number."""
        self.number(value * 2 if value >= 0 else -2 * value - 1)

    def strings(self, values: Sequence[str]) -> None:
        """Append a list of strings."""
        self.number(len(values))
        for value in values:
            raw = value.encode("utf-8", "surrogatepass")
            self.number(len(raw))
            self.data += raw


class Unpacker:
    """Reads back what `Packer` wrote, in the same order."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self) -> int:
        """Read a number >= 0."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004
                return value
            shift += 7

    def signed(self) -> int:
        """Read any number."""
        value = self.number()
        return -(value + 1) // 2 if value & 1 else value // 2

    def strings(self) -> list[str]:
        """Read a list of strings."""
        values = []
        for _ in range(self.number()):
            length = self.number()
            values.append(self.data[self.at : self.at + length].decode("utf-8", "surrogatepass"))
            self.at += length
        return values


def pack_column(values: Iterable[int]) -> bytes:
    """Return numbers as two bytes each, or four if they need it: first all low bytes, then all high ones."""
    listed = list(values)
    try:
        column = array("h", listed)
    except OverflowError:
        column = array("i", listed)
    width = column.itemsize
    head = bytes((len(column), width)) if len(column) <= _ONE_BYTE else _head(len(column), width)
    raw = _little(column).tobytes()
    return head + b"".join([raw[plane::width] for plane in range(width)])


def _head(count: int, width: int) -> bytes:
    head = Packer()
    head.number(count)
    head.number(width)
    return bytes(head.data)


def unpack_columns(data: bytes, count: int) -> list[array[int]]:
    """Return the first `count` columns of numbers that `pack_column` packed."""
    packed = Unpacker(data)
    columns = []
    for _ in range(count):
        length, size = packed.number(), packed.number()
        raw = bytearray(length * size)
        for plane in range(size):
            raw[plane::size] = data[packed.at : packed.at + length]
            packed.at += length
        columns.append(_little(array("h" if size == 2 else "i", bytes(raw))))  # noqa: PLR2004 (bytes a number)
    return columns


def _little(values: array[int]) -> array[int]:
    """Return the numbers in little-endian order, whatever the machine."""
    if sys.byteorder == "big":
        values.byteswap()
    return values
