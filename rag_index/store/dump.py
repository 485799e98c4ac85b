"""The content of an index as lines that are equal if and only if two indexes answer alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from rag_index.store.snapshot import Snapshot


def dump(snapshot: Snapshot) -> Iterator[str]:
    """Yield one line a document, chunk and keyword, in an order that does not depend on history; lazy."""
    for row in snapshot.documents():
        document = snapshot.document(row.id)
        text = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        meta = dict(sorted(row.meta.items()))
        yield f"document {row.path!r} {row.status.value} {row.sha256} {text} {row.chunks} {meta}"
        chunks = snapshot.chunks_of(row.id)
        vectors = snapshot.vectors([chunk.id for chunk in chunks])
        for chunk, vector in zip(chunks, vectors, strict=True):
            digest = hashlib.sha256(vector.tobytes()).hexdigest()[:16]
            heading = " > ".join(chunk.heading)
            yield f"chunk {row.path!r} {chunk.index} {chunk.start}-{chunk.end} {chunk.uid} {digest} {heading!r}"
    for term, texts, times in snapshot.vocabulary():
        yield f"term {term} {texts} {times}"
