"""Batches of like length within a budget of padded tokens, so that little of the work is padding."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_index.types import Embedder, Event, Reporter, ignore

if TYPE_CHECKING:
    from rag_index.types import Matrix

    Stream = Callable[[Iterable[Sequence[str]]], Iterator[Matrix]]

BATCH_TOKENS = 4096
"""Padded tokens in one batch where neither settings nor the engine say otherwise."""
WINDOW = 8192
"""Texts that are sorted together: enough for even batches, few enough to hold."""

_CHARACTERS = 4
"""Characters in a token of most Latin texts."""


@dataclass(slots=True)
class Batch:
    """Texts to embed together.

    Attributes:
        indices: Their places in the input.
        tokens: Their real tokens.
        padded: Tokens that the model computes: the longest times how many.
    """

    indices: list[int]
    tokens: int
    padded: int


@dataclass(slots=True)
class Work:
    """What a model has done so far.

    Attributes:
        tokens: Tokens of the texts, special ones included.
        padded: Tokens that were computed: each batch is as wide as its longest row.
        seconds: Time in the model.
    """

    tokens: int = 0
    padded: int = 0
    seconds: float = 0.0


def plan(lengths: Sequence[int], budget: int) -> list[Batch]:
    """Group lengths into batches of at most `budget` padded tokens, longest first, equal lengths in order.

    A text longer than the budget is a batch of its own. Long ones come first, so that running out of memory
    shows at once and the rest goes faster than promised, not slower.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batches: list[Batch] = []
    width = 0
    for index in order:
        if not batches or (len(batches[-1].indices) + 1) * width > budget:
            batches.append(Batch([], 0, 0))
            width = max(lengths[index], 1)
        batch = batches[-1]
        batch.indices.append(index)
        batch.tokens += lengths[index]
        batch.padded += width
    return batches


def embed_all(
    embedder: Embedder, texts: Sequence[str], lengths: Sequence[int] | None = None, *, report: Reporter = ignore
) -> Iterator[tuple[list[int], Matrix]]:
    """Embed all `texts` in batches of like length; yields (places in `texts`, their vectors) as they are made.

    Args:
        embedder: The model; nobody else may use it until the iterator ends.
        texts: Documents, not yet with the prompt.
        lengths: Tokens of each, special tokens and prompt included; found out when None.
        report: Told after each batch: stage ``embed``, tokens done and in all (about, without `lengths`).

    Lazy: a batch is embedded when it is asked for. When memory runs out the batch is halved and tried again.
    """
    found = lengths if lengths is not None else _lengths(embedder, texts)
    total, done = sum(found), 0
    worker = _Halving(embedder, texts, found, _budget(embedder))
    for indices, matrix in worker.embed_all():
        yield indices, matrix
        done += sum(found[index] for index in indices)
        report(Event("embed", done, total))


@dataclass(slots=True)
class _Halving:
    """Embeds batches, halves those that don't fit in memory, and remembers what did not fit."""

    embedder: Embedder
    texts: Sequence[str]
    lengths: Sequence[int]
    room: int

    def embed_all(self) -> Iterator[tuple[list[int], Matrix]]:
        batches = self._batches()
        stream = getattr(self.embedder, "embed_stream", None)
        if stream is not None:
            yield from self._streamed(stream, batches)
        for indices in batches:  # all, or what is left after memory ran out
            yield from self.embed(indices)

    def _batches(self) -> Iterator[list[int]]:
        for start in range(0, len(self.texts), WINDOW):
            for batch in plan(self.lengths[start : start + WINDOW], self.room):
                yield [start + index for index in batch.indices]

    def _streamed(self, stream: Stream, batches: Iterator[list[int]]) -> Iterator[tuple[list[int], Matrix]]:
        """Embed batch after batch without a pause between them; where memory runs out, those at work in halves."""
        sent: deque[list[int]] = deque()

        def texts() -> Iterator[list[str]]:
            for indices in batches:
                sent.append(indices)
                yield [self.texts[index] for index in indices]

        try:
            for matrix in stream(texts()):
                yield sent.popleft(), matrix
        except (MemoryError, RuntimeError) as error:
            if not _out_of_memory(error):
                raise
        for indices in sent:
            yield from self.embed(indices)

    def embed(self, indices: list[int]) -> Iterator[tuple[list[int], Matrix]]:
        padded = len(indices) * max(1, *(self.lengths[index] for index in indices))
        if padded > self.room and len(indices) > 1:
            yield from self._halves(indices)
            return
        try:
            matrix = self.embedder.embed([self.texts[index] for index in indices])
        except (MemoryError, RuntimeError) as error:
            if len(indices) == 1 or not _out_of_memory(error):
                raise
        else:
            yield indices, matrix
            return
        self.room = padded // 2  # outside the handler, so that the failed batch's memory is given back
        yield from self._halves(indices)

    def _halves(self, indices: list[int]) -> Iterator[tuple[list[int], Matrix]]:
        half = len(indices) // 2
        yield from self.embed(indices[:half])
        yield from self.embed(indices[half:])


def _out_of_memory(error: Exception) -> bool:
    text = f"{type(error).__name__} {error}".lower()
    return isinstance(error, MemoryError) or "out of memory" in text or "alloc" in text


def _budget(embedder: Embedder) -> int:
    return int(getattr(embedder, "batch_tokens", 0)) or BATCH_TOKENS


def _lengths(embedder: Embedder, texts: Sequence[str]) -> list[int]:
    """Find the tokens of each text; about, where the embedder sees to even batches itself."""
    if hasattr(embedder, "embed_stream"):
        return [len(text) // _CHARACTERS + 1 for text in texts]
    lengths = []
    for text in texts:
        tokens = embedder.tokens(text)
        lengths.append(len(tokens.starts) + tokens.extra)
    return lengths
