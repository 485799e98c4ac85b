"""Spell out which configurations a sweep compares."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product

from rag_index.errors import UsageError
from rag_index.settings import ChunkSettings, EmbedSettings, SearchSettings, Settings
from rag_index.types import Warn


@dataclass(frozen=True, slots=True)
class Cell:
    """One configuration: how the text is cut, which model, how the question is answered."""

    chunk: ChunkSettings
    embed: EmbedSettings
    search: SearchSettings

    @property
    def build_key(self) -> str:
        """Digest of what decides the index; cells that share it differ in search alone."""
        return _digest([asdict(self.chunk), asdict(self.embed)])

    @property
    def key(self) -> str:
        """Digest of the whole configuration."""
        return _digest([asdict(self.chunk), asdict(self.embed), asdict(self.search)])


@dataclass(frozen=True, slots=True)
class Grid:
    """The values to combine; an empty list means the one value of the settings at hand.

    Attributes:
        chunkers: Names of chunkers.
        sizes: Chunk sizes in the unit.
        overlaps: ``"100"`` in the unit, or ``"0.25"`` as a share of the size.
        units: ``characters``, ``tokens``.
        models: Names of models.
        modes: ``hybrid``, ``dense``, ``keyword``.
        passages: ``sentence``, ``chunk``, ``window``.
    """

    chunkers: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    overlaps: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()

    def cells(self, base: Settings) -> tuple[list[Cell], list[Warn]]:
        """Return all combinations in order, each once, and a warning for each that can't be.

        Raises:
            UsageError: a value is not of its kind, or nothing is left.
        """
        check_overlaps(self.overlaps)
        found: dict[str, Cell] = {}
        left_out: dict[str, Warn] = {}
        for combined in product(
            self.chunkers or (base.chunk.chunker,),
            self.units or (base.chunk.unit,),
            self.sizes or (base.chunk.size,),
            self.overlaps or (_as_share(base.chunk, self.sizes),),
            self.models or (base.embed.model,),
            self.modes or (base.search.mode,),
            self.passages or (base.search.passages,),
        ):
            chunker, unit, size, overlap, model, mode, passages = combined
            units = overlap_units(overlap, size)
            if units >= size:
                message = f"{chunker} {size} with overlap {units} is left out: overlap must be less than the size"
                left_out[message] = Warn("left_out", message)
                continue
            chunk = replace(base.chunk, chunker=chunker, unit=unit, size=size, overlap=units)
            search = replace(base.search, mode=mode, passages=passages)
            cell = Cell(chunk, replace(base.embed, model=model), search)
            found.setdefault(cell.key, cell)
        if not found:
            raise UsageError("no configuration is left to compare", "Lower --overlaps or raise --sizes.")
        return list(found.values()), list(left_out.values())


def overlap_units(overlap: str, size: int) -> int:
    """Return an overlap in units: ``"100"`` is 100, ``"0.25"`` a quarter of `size`, rounded down."""
    return int(float(overlap) * size + 1e-6) if "." in overlap else int(overlap)


def check_overlaps(overlaps: Sequence[str]) -> None:
    """Raise UsageError for what is neither a count nor a share."""
    for text in overlaps:
        try:
            value = float(text) if "." in text else int(text)
        except ValueError as error:
            raise UsageError(
                f"overlap {text!r} is no number", "Give units (100) or a share of the size (0.25)."
            ) from error
        if value < 0:
            raise UsageError(f"overlap is {text} but must be at least 0", "Raise --overlaps.")


def names(cells: Sequence[Cell]) -> list[str]:
    """Return a short name for each cell: chunker, size and overlap, and whatever else differs among them."""
    parts = [_described(cell) for cell in cells]
    varies = {key for key in parts[0] if len({part[key] for part in parts}) > 1} if parts else set()
    return [
        " ".join([part["chunker"], part["size"], *(part[key] for key in part if key in varies - {"chunker", "size"})])
        for part in parts
    ]


def _described(cell: Cell) -> dict[str, str]:
    return {
        "chunker": cell.chunk.chunker,
        "size": f"{cell.chunk.size}/{cell.chunk.overlap}",
        "unit": cell.chunk.unit,
        "model": cell.embed.model.rpartition("/")[2],
        "mode": cell.search.mode,
        "passages": f"{cell.search.passages}s",
    }


def _as_share(chunk: ChunkSettings, sizes: Sequence[int]) -> str:
    """Keep the overlap at hand; where sizes vary, keep its share of the size."""
    return f"{chunk.overlap / chunk.size:.6f}" if sizes else str(chunk.overlap)


def _digest(values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]
