"""Documents that were read are kept, within a bound."""

from __future__ import annotations

from rag_index.store.kept import Kept
from rag_index.types import Document, Source


def test_what_was_used_last_is_kept_within_the_bound_and_one_document_always() -> None:
    read: list[int] = []

    def document(number: int) -> Document:
        read.append(number)
        return Document(Source(f"{number}.txt"), text="x" * number)

    kept = Kept(document, most=10)
    assert [len(kept(number).text) for number in (4, 5, 4, 3, 4, 5)] == [4, 5, 4, 3, 4, 5]
    assert read == [4, 5, 3, 5]  # 3 put out 5, which had not been used for longest
    assert len(kept(99).text) == len(kept(99).text) == 99
    assert read == [4, 5, 3, 5, 99]
    kept(4)
    assert read[-1] == 4
