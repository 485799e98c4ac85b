"""What one writes without a tool: a splitter, sentence-transformers and chromadb, as their documentation shows.

python plain.py build FOLDER STORE MODEL        python plain.py query STORE MODEL QUESTION
"""

import sys
from pathlib import Path

import chromadb
from sentence_transformers import SentenceTransformer


def build(folder: str, store: str, name: str) -> None:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    texts, ids, metadatas = [], [], []
    for path in sorted(Path(folder).rglob("*.md")):
        for number, text in enumerate(splitter.split_text(path.read_text(encoding="utf-8"))):
            texts.append(text)
            ids.append(f"{path.name}-{number}")
            metadatas.append({"path": path.name, "chunk": number})
    embeddings = SentenceTransformer(name, device="cpu").encode(texts)
    collection = open_collection(store)
    for start in range(0, len(texts), 5000):
        part = slice(start, start + 5000)
        collection.add(ids=ids[part], documents=texts[part], embeddings=embeddings[part], metadatas=metadatas[part])
    print(len(texts))


def query(store: str, name: str, question: str) -> None:
    embedding = SentenceTransformer(name, device="cpu").encode([question])
    found = open_collection(store).query(query_embeddings=embedding, n_results=5)
    for text in found["documents"][0]:
        print(text[:80].replace("\n", " "))


def open_collection(store: str):
    client = chromadb.PersistentClient(store, chromadb.Settings(anonymized_telemetry=False))
    return client.get_or_create_collection("texts", embedding_function=None)


if __name__ == "__main__":
    {"build": build, "query": query}[sys.argv[1]](*sys.argv[2:])
