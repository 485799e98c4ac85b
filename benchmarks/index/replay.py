"""Edit replay: a history of edits over a repository, and how many texts each way of indexing embeds on its way.

The history is made by a script: every commit inserts, changes or deletes a sentence in eight of the documents, renames
a file or writes one anew. After each commit the whole repository is indexed again, as a build or a nightly job does.
What can't be avoided is to embed each different chunk text once, so that is what the embedded texts are divided by.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_index.embed import load_embedder
from rag_index.pipeline import build_documents
from rag_index.settings import EmbedSettings, Settings, StoreSettings
from rag_index.types import Document, Source

SETTINGS = Settings(embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False))
WORDS = [f"w{n:04}" for n in range(5000)]
Repository = dict[str, str]


class Counting:
    """The hash embedder, counting what it is asked to embed."""

    def __init__(self) -> None:
        self._embedder = load_embedder(SETTINGS.embed)
        self.info, self.tokens = self._embedder.info, self._embedder.tokens
        self.embed_query = self._embedder.embed_query
        self.asked = 0
        self.different: set[str] = set()

    def embed(self, texts: Sequence[str]):
        self.asked += len(texts)
        self.different.update(texts)
        return self._embedder.embed(texts)

    def figures(self) -> dict[str, float]:
        new = len(self.different)
        return {"embedded": self.asked, "new_texts": new, "ratio": round(self.asked / new, 3)}


def history(commits: int, files: int) -> Iterator[Repository]:
    """Yield the repository as it is first, and after each commit."""
    chance = random.Random(3)
    texts = {f"{n}.txt": [sentence(chance) for _ in range(120)] for n in range(files)}
    for commit in range(commits + 1):
        if commit:
            for name in chance.sample(sorted(texts), 8):
                edit(texts, name, chance)
        yield {name: text_of(sentences) for name, sentences in texts.items()}


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=12)).capitalize() + "."


def text_of(sentences: Sequence[str]) -> str:
    """Set six sentences as a paragraph."""
    return "\n\n".join(" ".join(sentences[at : at + 6]) for at in range(0, len(sentences), 6))


def edit(texts: dict[str, list[str]], name: str, chance: random.Random) -> None:
    """Insert, change, delete a sentence, rename or replace a file: what people do."""
    sentences, at = texts[name], chance.randrange(len(texts[name]))
    action = chance.random()
    if action < 0.4:
        sentences.insert(at, sentence(chance))
    elif action < 0.7:
        sentences[at] = sentence(chance)
    elif action < 0.85 and len(sentences) > 20:
        del sentences[at]
    elif action < 0.95:
        texts[f"{chance.randrange(10**6)}.txt"] = texts.pop(name)
    else:
        texts[name] = [sentence(chance) for _ in range(120)]


def ours(commits: int, files: int, folder: Path) -> Counting:
    counting = Counting()
    for texts in history(commits, files):
        documents = [Document(Source(name), text=text) for name, text in texts.items()]
        build_documents(documents, folder, SETTINGS, embedder=counting)
    return counting


def langchain(commits: int, files: int, *, offsets: bool) -> Counting:
    """LangChain's indexing API, as its how-to shows it: cleanup ``full``, the source as metadata."""
    from langchain_core.documents import Document as Page
    from langchain_core.embeddings import Embeddings
    from langchain_core.indexing import InMemoryRecordManager, index
    from langchain_core.vectorstores import InMemoryVectorStore
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    counting = Counting()

    class Model(Embeddings):
        def embed_documents(self, texts):
            return counting.embed(texts).tolist()

        def embed_query(self, text):
            return counting.embed_query(text).tolist()

    store, records = InMemoryVectorStore(Model()), InMemoryRecordManager("replay")
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200, add_start_index=offsets)
    for texts in history(commits, files):
        chunks = splitter.split_documents([Page(text, metadata={"source": name}) for name, text in texts.items()])
        index(chunks, records, store, cleanup="full", source_id_key="source", key_encoder="sha256")
    return counting


def llama_index(commits: int, files: int) -> Counting:
    """LlamaIndex's ingestion pipeline with a document store, as its guide to document management shows it."""
    from llama_index.core import Document as Page
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.core.vector_stores import SimpleVectorStore

    counting = Counting()

    class Model(BaseEmbedding):
        def _get_text_embedding(self, text):
            return counting.embed([text])[0].tolist()

        def _get_text_embeddings(self, texts):
            return counting.embed(texts).tolist()

        def _get_query_embedding(self, query):
            return counting.embed_query(query).tolist()

        async def _aget_query_embedding(self, query):
            return self._get_query_embedding(query)

    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=256, chunk_overlap=50), Model(model_name="hash")],
        docstore=SimpleDocumentStore(),
        vector_store=SimpleVectorStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    for texts in history(commits, files):
        pipeline.run(documents=[Page(text=text, id_=name) for name, text in texts.items()])
    return counting


def measure(scratch: Path, commits: int = 50, files: int = 200) -> dict[str, object]:
    ways = {
        "rag-index": ours(commits, files, scratch / "replay"),
        "LangChain": langchain(commits, files, offsets=False),
        "LangChain with start_index": langchain(commits, files, offsets=True),
        "LlamaIndex": llama_index(commits, files),
    }
    return {"commits": commits, "files": files, **{name: counting.figures() for name, counting in ways.items()}}
