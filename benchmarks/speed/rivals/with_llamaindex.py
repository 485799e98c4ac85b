"""The same index by LlamaIndex over Chroma, as its documentation shows: with_llamaindex.py FOLDER STORE MODEL."""

import sys

import chromadb
from llama_index.core import SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.node_parser import SentenceSplitter
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr
from sentence_transformers import SentenceTransformer


class Model(BaseEmbedding):
    _model: SentenceTransformer = PrivateAttr()

    def __init__(self, name: str) -> None:
        super().__init__(model_name=name, embed_batch_size=32)
        self._model = SentenceTransformer(name, device="cpu")

    def _get_text_embedding(self, text):
        return self._model.encode([text])[0].tolist()

    def _get_text_embeddings(self, texts):
        return self._model.encode(texts).tolist()

    def _get_query_embedding(self, query):
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query):
        return self._get_query_embedding(query)


def main(folder: str, store: str, name: str) -> None:
    pages = SimpleDirectoryReader(folder, recursive=True, required_exts=[".md"]).load_data()
    client = chromadb.PersistentClient(store, chromadb.Settings(anonymized_telemetry=False))
    vectors = ChromaVectorStore(chroma_collection=client.get_or_create_collection("texts", embedding_function=None))
    index = VectorStoreIndex.from_documents(
        pages,
        storage_context=StorageContext.from_defaults(vector_store=vectors),
        embed_model=Model(name),
        transformations=[SentenceSplitter(chunk_size=256, chunk_overlap=50)],  # tokens: about 1,000 characters
    )
    print(vectors._collection.count(), type(index).__name__)


if __name__ == "__main__":
    main(*sys.argv[1:])
