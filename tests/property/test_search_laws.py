"""Laws of search over indexes of any texts."""

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_index.embed import load_embedder
from rag_index.pipeline import build_documents
from rag_index.search import search
from rag_index.search.sentences import LONGEST, split_sentences
from rag_index.settings import ChunkSettings, EmbedSettings, SearchSettings, Settings
from rag_index.store import open_snapshot
from rag_index.types import Document, Source

MODEL = load_embedder(EmbedSettings(model="hash"))
WORDS = st.sampled_from(
    [
        "pump ",
        "Pumps. ",
        "office\n",
        "\n\n",
        "été ",
        "東京都。",
        "- item ",
        "3.5 ",
        "Mr. X ",
        "noon? ",
        "\r\n",
        "e\u0301 ",
    ]
)
TEXT = st.lists(WORDS, max_size=25).map("".join)


@given(
    texts=st.lists(TEXT, min_size=1, max_size=3),
    question=st.sampled_from(["pump", "office noon", "ete", "東京", '"pump" -noon', "été 3.5"]),
    mode=st.sampled_from(["hybrid", "dense", "keyword"]),
    passages=st.sampled_from(["sentence", "chunk", "window"]),
    size=st.sampled_from([15, 40]),
    budget=st.sampled_from([0, 7, 60]),
    context=st.sampled_from([0, 1]),
)
@settings(max_examples=25)
def test_no_character_is_returned_twice_and_all_is_where_it_says(
    tmp_path_factory, texts, question, mode, passages, size, budget, context
):
    documents = {f"{number}.txt": text for number, text in enumerate(texts)}
    wish = SearchSettings(mode=mode, passages=passages, budget=budget, context=context, limit=4)

    def answers(order):
        folder = tmp_path_factory.mktemp("index")
        made = Settings(embed=EmbedSettings(model="hash"), chunk=ChunkSettings(size=size, overlap=size // 3))
        sources = (Document(Source(path, sha256=path, format="text"), text=documents[path]) for path in order)
        build_documents(sources, folder, made, embedder=MODEL, publish=False)
        with open_snapshot(folder) as snapshot:
            return search(snapshot, MODEL, question, wish)

    found = answers(list(documents))
    assert found == answers(list(reversed(documents)))
    for one, other in combinations(found, 2):
        assert one.path != other.path or one.end <= other.start or other.end <= one.start
    for each in found:
        assert each.text == documents[each.path][each.start : each.end]
        assert each.text.strip()
        assert all(each.start <= mark.start < mark.end <= each.end for mark in each.highlights)
        assert all(documents[place.path][place.start : place.end] == each.text for place in each.also)
        assert 0 <= each.score <= 1
    if budget:
        assert sum(len(each.text) for each in found) <= budget


@given(st.text(st.sampled_from("ab .!?。\n-\\n\r\t\"'é東3"), max_size=80), st.lists(st.integers(0, 80), max_size=4))
def test_sentences_hold_all_but_white_space_in_order(text, cuts):
    spans = split_sentences(text, 0, len(text), sorted(cuts))
    assert "".join("".join(text[s.start : s.end] for s in spans).split()) == "".join(text.split())
    assert all(0 < len(span) <= LONGEST for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(not (span.start < cut < span.end) for span in spans for cut in cuts)


def test_a_sentence_without_stops_is_cut():
    text = "word " * 300
    assert all(len(span) <= LONGEST for span in split_sentences(text, 0, len(text)))
    assert all(len(span) <= LONGEST for span in split_sentences("x" * 3000, 0, 3000))
