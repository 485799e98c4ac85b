"""What the children of the projection are asked to do."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rag_index.store.layout import Layout
from rag_index.store.reader import Reader

COPY_SHARE = 0.3
CHURN_SHARE = 0.2
"""A copy with changes is made instead of a fresh generation while fewer records than this share change now, and fewer
have changed since the last fresh one: Chroma's graph loses records when many are deleted and added."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a child is to do.

    Attributes:
        kind: ``load`` or ``verify``.
        state: Folder of the state to project.
        place: Folder of the generation, or address of a server.
        collection: Name of the collection.
        records: File that says which records the generation holds.
        metadata: What the collection says of itself.
        old: Folder of a published generation that may be copied, or "".
        old_records: Which records that one holds.
        churn: Records that have changed in it since it was made fresh.
        full: Verify every record.
        dense: Make a graph of twice the links.
    """

    kind: str
    state: str
    place: str
    collection: str
    records: str
    metadata: dict[str, str | int] = field(default_factory=dict)
    old: str = ""
    old_records: str = ""
    churn: int = 0
    full: bool = False
    dense: bool = False

    @property
    def where(self) -> Path | str:
        """The place as `ChromaStore` takes it."""
        return self.place if self.place.startswith("http") else Path(self.place)

    def snapshot(self) -> Reader:
        """Open the state as it is now."""
        state = Path(self.state)
        return Reader(Layout(state.parent), state)

    def to_json(self) -> str:
        """Return the task as one argument."""
        return json.dumps(asdict(self))
