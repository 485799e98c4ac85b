"""Damage for tests: what a bad disk does to a file."""

from __future__ import annotations

import random
from pathlib import Path


def spoil(path: Path, chance: random.Random) -> None:
    """Cut a file short, or flip one bit of it."""
    data = bytearray(path.read_bytes())
    if chance.random() < 0.3 or not data:
        data = data[: chance.randrange(len(data) + 1)]
    else:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
