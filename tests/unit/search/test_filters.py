"""Filters decide who may answer before the best are chosen, so as many answers come as there are."""

from collections.abc import Iterator

import pytest

from rag_index.embed import load_embedder
from rag_index.pipeline import build_documents
from rag_index.settings import ChunkSettings, EmbedSettings, Settings
from rag_index.store import Snapshot, open_snapshot
from rag_index.types import Block, Document, Filter, Source

CROWD = 500
"""Documents that answer better than the four that the filters are about; more than are ranked in one search."""
DAY = 86_400

TITLES = "Guide\n\nThe pump hums at night.\n\nStraße: repairs\n\nThe pump costs nine euros.\n"
REPAIRS = TITLES.index("Straße")


def document(path: str, text: str, kind: str = "text", day: int = 0, **meta: object) -> Document:
    return Document(Source(path, sha256=path, format=kind, mtime_ns=day * DAY * 10**9), text=text, meta=meta)


def documents() -> Iterator[Document]:
    blocks = (
        Block(0, len(TITLES), "section", "Guide", level=1),
        Block(REPAIRS, len(TITLES), "section", "Straße: repairs", level=2, parent=0),
    )
    guide = document("guide.md", TITLES, "markdown", 10, author="Kim")
    yield Document(guide.source, text=TITLES, meta=guide.meta, blocks=blocks)
    yield document("scan.pdf", "A note about a pump in the cellar.\n", "pdf", 20, author="Kim", year="2026")
    yield document("old.html", "Of the many parts, one is the pump.\n", "html", 30, author="kim")
    yield document("price.csv", "part: valve or pump\n", "csv", 40, year="2026", draft="")
    for number in range(CROWD):
        yield document(f"crowd/{number}.txt", f"pump warranty {number} pump warranty\n", day=1)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    settings = Settings(embed=EmbedSettings(model="hash"), chunk=ChunkSettings(chunker="character", size=40, overlap=0))
    folder = tmp_path_factory.mktemp("filters")
    build_documents(documents(), folder, settings, embedder=load_embedder(settings.embed), publish=False)
    with open_snapshot(folder) as opened:
        yield opened


FILTERS = [
    pytest.param(Filter(formats=("pdf",)), {"scan.pdf"}, id="a format"),
    pytest.param(Filter(formats=("pdf", "csv")), {"scan.pdf", "price.csv"}, id="any of the formats"),
    pytest.param(Filter(formats=("odt",)), set(), id="no document of the format"),
    pytest.param(Filter(heading="Guide"), {"guide.md"}, id="a title"),
    pytest.param(Filter(heading="STRASSE"), {"guide.md"}, id="part of a title in another case"),
    pytest.param(Filter(heading="Guide\nStraße"), set(), id="titles are looked at one by one"),
    pytest.param(Filter(heading="cellar"), set(), id="text is no title"),
    pytest.param(Filter(meta=(("author", "Kim"),)), {"guide.md", "scan.pdf"}, id="metadata, case told apart"),
    pytest.param(Filter(meta=(("author", "Kim"), ("year", "2026"))), {"scan.pdf"}, id="all of the metadata"),
    pytest.param(Filter(meta=(("draft", ""),)), {"price.csv"}, id="an empty value is not a missing one"),
    pytest.param(Filter(meta=(("draft", "None"),)), set(), id="a missing value is not the word None"),
    pytest.param(Filter(modified_since=20 * DAY), {"scan.pdf", "old.html", "price.csv"}, id="since, that moment too"),
    pytest.param(Filter(modified_since=20 * DAY + 1), {"old.html", "price.csv"}, id="a second later"),
    pytest.param(Filter(modified_since=41 * DAY), set(), id="nothing as new"),
    pytest.param(
        Filter(formats=("pdf", "html", "csv"), meta=(("year", "2026"),), modified_since=30 * DAY),
        {"price.csv"},
        id="all filters at once",
    ),
]


@pytest.mark.parametrize("mode", ["hybrid", "dense", "keyword"])
@pytest.mark.parametrize(("where", "paths"), FILTERS)
def test_only_and_all_documents_that_fit_answer(snapshot, ask, where, paths, mode):
    found = ask(snapshot, "pump warranty", where, limit=50, mode=mode, passages="chunk")
    assert {passage.path for passage in found} == paths


@pytest.mark.parametrize("mode", ["hybrid", "dense", "keyword"])
@pytest.mark.parametrize("passages", ["sentence", "chunk", "window"])
def test_documents_left_out_take_no_place_among_the_best(snapshot, ask, passages, mode):
    assert {each.path[:5] for each in ask(snapshot, "pump warranty", limit=4, mode=mode)} == {"crowd"}
    where = Filter(modified_since=10 * DAY)
    found = ask(snapshot, "pump warranty", where, limit=4, max_per_file=1, passages=passages, mode=mode)
    assert sorted(each.path for each in found) == ["guide.md", "old.html", "price.csv", "scan.pdf"]


@pytest.mark.parametrize("passages", ["sentence", "chunk", "window"])
def test_a_title_lets_only_what_stands_below_it_answer(snapshot, ask, passages):
    found = ask(snapshot, "pump night euros", Filter(heading="repairs"), limit=9, passages=passages)
    assert found
    assert all(each.end > REPAIRS for each in found)
    if passages == "sentence":
        assert all("Straße: repairs" in each.location.heading for each in found)


@pytest.mark.parametrize("title", ["First", "Second", "Third"])
@pytest.mark.parametrize("passages", ["sentence", "chunk", "window"])
def test_sections_that_share_a_chunk_are_told_apart(tmp_path, embedder, ask, title, passages):
    sections = [f"{name}\n\nThe pump of the {name.lower()} house.\n\n" for name in ("First", "Second", "Third")]
    text = "".join(sections)
    blocks = [
        Block(text.index(section), text.index(section) + len(section), "section", section.split("\n")[0], level=1)
        for section in sections
    ]
    settings = Settings(embed=EmbedSettings(model="hash"))
    document = Document(Source("a.md", sha256="a", format="markdown"), text=text, blocks=tuple(blocks))
    build_documents([document], tmp_path, settings, embedder=embedder, publish=False)
    with open_snapshot(tmp_path) as opened:
        assert len(opened.chunks_of(opened.documents()[0].id)) == 1
        (found,) = ask(opened, "pump house", Filter(heading=title), passages=passages)
        assert ask(opened, "pump house", Filter(heading="Fourth"), passages=passages) == []
    assert f"pump of the {title.lower()} house" in found.text
    if passages == "sentence":
        assert found.location.heading == (title,)
        assert found.text.count("pump") == 1


@pytest.mark.parametrize(
    ("where", "count"),
    [
        (Filter(formats=("text",)), CROWD),
        (Filter(paths=("crowd/1?.txt",)), 10),
        (Filter(paths=("crowd/1?.txt",), formats=("pdf",)), 0),
        (Filter(modified_since=10 * DAY, formats=("pdf", "html", "csv")), 3),
    ],
)
def test_counts_are_exact_on_both_sides(snapshot, embedder, where, count):
    vector = embedder.embed_query("submarine")
    assert len(snapshot.dense(vector, CROWD * 2, where)) == count
    assert len(snapshot.keyword("pump", CROWD * 2, where)) == count
    assert len(snapshot.documents(where)) == count


def test_the_same_text_in_a_document_that_is_left_out_is_no_answer(index_of, ask):
    snapshot = index_of({"a.txt": "The pump is loud.\n", "b.txt": "The pump is loud.\n"})
    (found,) = ask(snapshot, "pump", Filter(paths=("b.txt",)))
    assert found.path == "b.txt"
