"""The adapters with the real LangChain and LlamaIndex: true positions, also where the text repeats itself."""

from __future__ import annotations

import pytest

from rag_index.errors import UsageError
from rag_index.types import Span, Tokens

REPEATED = "tic tac tic tac toe tic tac tic toe tac " * 12


def words(text):
    starts = [at for at in range(len(text)) if text[at] != " " and (at == 0 or text[at - 1] == " ")]
    ends = [at for at in range(1, len(text) + 1) if text[at - 1] != " " and (at == len(text) or text[at] == " ")]
    return Tokens(starts, ends, limit=12, extra=2)


def halves(text):
    middle = len(text) // 2
    return [Span(0, middle), Span(middle, len(text))]


def test_langchain_documents_point_at_their_own_occurrence():
    pytest.importorskip("langchain_text_splitters")
    from langchain_core.documents import Document

    from rag_index.chunk.for_langchain import RagIndexTextSplitter

    splitter = RagIndexTextSplitter("window", size=30, overlap=10)
    found = splitter.split_documents([Document(REPEATED, metadata={"file": "a"}), Document("one two")])
    assert [item.metadata.get("file") for item in found] == ["a"] * (len(found) - 1) + [None]
    starts = [item.metadata["start_index"] for item in found[:-1]]
    assert starts == sorted(set(starts))
    for item in found[:-1]:
        assert item.page_content == REPEATED[item.metadata["start_index"] : item.metadata["end_index"]]
    assert splitter.split_text("one two") == ["one two"]


def test_langchain_splitter_keeps_sizes_in_tokens_and_takes_a_function():
    pytest.importorskip("langchain_text_splitters")
    from rag_index.chunk.for_langchain import RagIndexTextSplitter

    small = RagIndexTextSplitter("window", 3, 1, unit="tokens", tokens=words)
    assert [len(text.split()) for text in small.split_text("a b c d e")] == [3, 3]
    assert RagIndexTextSplitter(halves).split_text("abcd") == ["ab", "cd"]
    with pytest.raises(UsageError):
        RagIndexTextSplitter(size=10, overlap=10)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_llama_index_nodes_point_at_their_own_occurrence():
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import Document

    from rag_index.chunk.for_llama_index import RagIndexNodeParser

    parser = RagIndexNodeParser("window", size=30, overlap=10)
    document = Document(text=REPEATED, metadata={"file": "a"})
    nodes = parser.get_nodes_from_documents([document])
    starts = [node.start_char_idx for node in nodes]
    assert starts == sorted(set(starts))
    assert [node.text for node in nodes] == [REPEATED[node.start_char_idx : node.end_char_idx] for node in nodes]
    assert all(node.metadata == {"file": "a"} for node in nodes)
    assert nodes[1].prev_node.node_id == nodes[0].node_id
    assert parser.get_nodes_from_documents([Document(text="")]) == []
    assert RagIndexNodeParser.class_name() == "RagIndexNodeParser"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_llama_index_parser_keeps_sizes_in_tokens_and_takes_a_function():
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import Document

    from rag_index.chunk.for_llama_index import RagIndexNodeParser

    small = RagIndexNodeParser("window", 3, 1, unit="tokens", tokens=words, include_prev_next_rel=False)
    assert [node.text for node in small([Document(text="a b c d e")])] == ["a b c", "c d e"]
    assert [node.text for node in RagIndexNodeParser(halves)([Document(text="abcd")])] == ["ab", "cd"]
    with pytest.raises(UsageError):
        RagIndexNodeParser(size=10, overlap=10)
