"""The same index by LangChain over Chroma, as its documentation shows: with_langchain.py FOLDER STORE MODEL."""

import sys
from pathlib import Path

from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from sentence_transformers import SentenceTransformer


class Model(Embeddings):
    def __init__(self, name: str) -> None:
        self.model = SentenceTransformer(name, device="cpu")

    def embed_documents(self, texts):
        return self.model.encode(texts).tolist()

    def embed_query(self, text):
        return self.model.encode([text])[0].tolist()


def main(folder: str, store: str, name: str) -> None:
    paths = sorted(Path(folder).rglob("*.md"))
    pages = [Document(path.read_text(encoding="utf-8"), metadata={"source": path.name}) for path in paths]
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200, add_start_index=True)
    chunks = splitter.split_documents(pages)
    Chroma.from_documents(chunks, Model(name), persist_directory=store, collection_name="texts")
    print(len(chunks))


if __name__ == "__main__":
    main(*sys.argv[1:])
