"""In what two indexes differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from rag_index.store.reader import Reader


@dataclass(slots=True)
class Difference:
    """In what index B differs from index A.

    Attributes:
        settings: ``part.name`` -> its two values, where they differ and decide the content.
        model: Fingerprints of the models, where they differ.
        added: Documents only in B.
        removed: Documents only in A.
        changed: Documents whose text or status differs.
        rechunked: Documents with the same text but other chunks.
        chunks: Live chunks of A and B.
        texts: Different texts only in A, in both, only in B.
    """

    settings: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    model: tuple[str, str] | None = None
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    rechunked: list[str] = field(default_factory=list)
    chunks: tuple[int, int] = (0, 0)
    texts: tuple[int, int, int] = (0, 0, 0)

    @property
    def same(self) -> bool:
        """Whether both answer alike."""
        return not (self.model or self.added or self.removed or self.changed or self.rechunked)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**asdict(self), "same": self.same}


def compare(a: Reader, b: Reader) -> Difference:
    """Compare two indexes, document by document and text by text."""
    result = Difference(chunks=(a.info.counts.chunks, b.info.counts.chunks))
    result.settings = _settings(a, b)
    if a.info.model.fingerprint != b.info.model.fingerprint:
        result.model = (a.info.model.fingerprint, b.info.model.fingerprint)
    ours, theirs = ({row.path: row for row in reader.documents()} for reader in (a, b))
    result.removed, result.added = sorted(ours.keys() - theirs.keys()), sorted(theirs.keys() - ours.keys())
    for path in sorted(ours.keys() & theirs.keys()):
        one, other = ours[path], theirs[path]
        if (one.sha256, one.status, one.meta) != (other.sha256, other.status, other.meta):
            result.changed.append(path)
        elif _spans(a, one.id) != _spans(b, other.id):
            result.rechunked.append(path)
    left, right = a.uids(), b.uids()
    result.texts = (len(left - right), len(left & right), len(right - left))
    return result


def _settings(a: Reader, b: Reader) -> dict[str, tuple[Any, Any]]:
    left, right = a.info.settings.to_dict(), b.info.settings.to_dict()
    return {
        f"{part}.{name}": (value, right[part][name])
        for part in ("extract", "chunk", "embed")
        for name, value in left[part].items()
        if value != right[part][name]
    }


def _spans(reader: Reader, document: int) -> list[tuple[int, int, str]]:
    return [(chunk.start, chunk.end, chunk.uid) for chunk in reader.chunks_of(document)]
