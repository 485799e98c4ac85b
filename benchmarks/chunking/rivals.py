"""The chunkers that are compared: each a function from a text to a list of (start, end)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from rag_index.chunk import chunk

SIZE, OVERLAP = 1000, 200
Cut = Callable[[str], list[tuple[int, int]]]


def ours(name: str, size: int = SIZE, overlap: int = OVERLAP) -> Cut:
    return lambda text: [(item.start, item.end) for item in chunk(text, name, size, overlap)]


def langchain(size: int = SIZE, overlap: int = OVERLAP) -> Cut:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, add_start_index=True)

    def cut(text: str) -> list[tuple[int, int]]:
        found = splitter.create_documents([text])
        return [(item.metadata["start_index"], item.metadata["start_index"] + len(item.page_content)) for item in found]

    return cut


def langchain_nltk(language: str) -> Cut:
    """LangChain's NLTK splitter with spans, handed the same Punkt tables: it would look for a download."""
    from langchain_text_splitters import NLTKTextSplitter

    from rag_index.chunk.sentences import _tokenizer

    logging.getLogger("langchain_text_splitters.base").setLevel(logging.ERROR)
    punkt = _tokenizer(language)

    class Spans(NLTKTextSplitter):
        @staticmethod
        def _span_tokenizer(language: str) -> Callable[[str], list[str]]:
            del language

            def tokenize(text: str) -> list[str]:
                spans = list(punkt.span_tokenize(text))
                starts = [0, *(end for _, end in spans[:-1])]
                return [text[start:end] for start, (_, end) in zip(starts, spans, strict=True)]

            return tokenize

    splitter = Spans(separator="", use_span_tokenize=True, chunk_size=SIZE, chunk_overlap=OVERLAP, add_start_index=True)

    def cut(text: str) -> list[tuple[int, int]]:
        found = splitter.create_documents([text])
        return [(item.metadata["start_index"], item.metadata["start_index"] + len(item.page_content)) for item in found]

    return cut


def chonkie_fast() -> Cut:
    from chonkie import FastChunker

    chunker = FastChunker(chunk_size=SIZE)
    return lambda text: [(item.start_index, item.end_index) for item in chunker.chunk(text)]


def semchunk_() -> Cut:
    import semchunk

    chunker = semchunk.chunkerify(len, SIZE)

    def cut(text: str) -> list[tuple[int, int]]:
        _, offsets = chunker(text, offsets=True, overlap=OVERLAP)
        return list(offsets)

    return cut


def semantic_text_splitter_() -> Cut:
    from semantic_text_splitter import TextSplitter

    splitter = TextSplitter(SIZE, overlap=OVERLAP)
    return lambda text: [(start, start + len(part)) for start, part in splitter.chunk_indices(text)]
