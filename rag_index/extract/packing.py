"""Numbers and strings as few bytes: LEB128, seven bits a byte, signed ones in zigzag order."""

from __future__ import annotations

from collections.abc import Sequence


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
