"""From a question to passages, over small indexes made by the real pipeline."""

import pytest

from rag_index.errors import UsageError
from rag_index.extract import extract_bytes
from rag_index.pipeline import build_documents
from rag_index.search import search
from rag_index.settings import ChunkSettings, EmbedSettings, ExtractSettings, SearchSettings, Settings
from rag_index.store import open_snapshot
from rag_index.types import Filter, Place

PUMPS = (
    "The pump NV-P20 moves 20 litres a minute. It weighs 4 kg.\n\n"
    "A repaired pump has a warranty of twelve months. The warranty begins with the date on the repair note. "
    "Keep the note.\n\n"
    "Batteries last for two years. Replace them in pairs.\n"
)
OFFICE = "The office is open from nine to five. Visitors ring the bell.\n\nLunch is at noon in the canteen.\n"
TEXTS = {"manual.txt": PUMPS, "office.txt": OFFICE}
MODES = ["hybrid", "dense", "keyword"]
PASSAGES = ["sentence", "chunk", "window"]


def texts_of(passages):
    return [passage.text for passage in passages]


def test_the_sentence_that_answers_comes_first(index_of, ask):
    best = ask(index_of(TEXTS), "How long is the warranty of a repaired pump?")[0]
    assert "A repaired pump has a warranty of twelve months." in best.text
    assert best.path == "manual.txt"
    assert best.location.line in {1, 3}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("passages", PASSAGES)
def test_every_passage_is_a_slice_with_its_highlights_inside(index_of, ask, mode, passages):
    for passage in ask(index_of(TEXTS), "warranty of the pump", mode=mode, passages=passages):
        assert passage.text == TEXTS[passage.path][passage.start : passage.end]
        assert passage.highlights
        assert all(passage.start <= mark.start < mark.end <= passage.end for mark in passage.highlights)
        assert 0 <= passage.score <= 1
        assert passage.chunks


def test_words_of_the_question_are_marked(index_of, ask):
    best = ask(index_of(TEXTS), "warranties of repaired pumps", limit=1)[0]
    marked = [TEXTS[best.path][mark.start : mark.end] for mark in best.highlights]
    assert {"warranty", "repaired", "pump"} <= set(marked)


def test_where_no_word_is_shared_the_sentence_is_marked(index_of, ask):
    passage = ask(index_of({"a.txt": "Alpha beta."}), "zzz", mode="dense")[0]
    assert [(mark.start, mark.end) for mark in passage.highlights] == [(0, 11)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("word", ["résumé", "resume", "tapes", "tape"])
def test_all_forms_of_a_word_are_found_the_one_as_written_first(index_of, ask, mode, word):
    forms = ["resume", "résumé", "tape", "tapes"]
    found = ask(index_of({f"{n}.txt": f"The {form} lies here." for n, form in enumerate(forms)}), word, mode=mode)
    if mode != "dense":
        assert found[0].text == f"The {word} lies here."
    other = forms[forms.index(word) ^ 1]
    assert f"The {other} lies here." in texts_of(found)


def test_keyword_mode_needs_no_model(index_of):
    def never():
        raise AssertionError("the model was loaded")

    assert search(index_of(TEXTS), never, "warranty", SearchSettings(mode="keyword"))
    assert search(index_of(TEXTS), None, "warranty", SearchSettings())


def test_the_model_may_come_as_a_function(index_of, embedder):
    passages = search(index_of(TEXTS), lambda: embedder, "warranty", SearchSettings())
    assert passages == search(index_of(TEXTS), embedder, "warranty", SearchSettings())


def test_keyword_mode_finds_only_what_holds_a_word(index_of, ask):
    snapshot = index_of(TEXTS)
    assert {passage.path for passage in ask(snapshot, "canteen bell", mode="keyword")} == {"office.txt"}
    assert ask(snapshot, "submarine", mode="keyword") == []


def test_a_quoted_phrase_must_occur(index_of, ask):
    snapshot = index_of(TEXTS)
    for mode in MODES:
        paths = {passage.path for passage in ask(snapshot, '"ring the bell" pump', mode=mode)}
        assert paths == {"office.txt"}, mode


def test_what_is_excluded_is_in_no_chunk_found(index_of, ask):
    snapshot = index_of(TEXTS)
    for mode in MODES:
        assert all("canteen" not in text for text in texts_of(ask(snapshot, "office pump -canteen", mode=mode)))


def test_filters_hold_before_the_best_are_chosen(index_of, ask):
    where = Filter(paths=("office*",))
    assert {passage.path for passage in ask(index_of(TEXTS), "pump warranty", where, limit=9)} == {"office.txt"}
    assert ask(index_of(TEXTS), "pump", Filter(paths=("none/**",))) == []


def test_hits_that_touch_are_one_passage_and_dont_count_twice(index_of, ask):
    passages = ask(index_of(TEXTS), "warranty pump note", limit=2)
    assert len(passages) == 2
    assert "repaired pump" in passages[0].text
    assert "repair note" in passages[0].text


def test_the_same_sentence_elsewhere_is_listed_once_with_all_its_places(index_of, ask):
    twice = {"a.txt": f"Alpha. {PUMPS}", "b.txt": PUMPS}
    passages = ask(index_of(twice), "Batteries last how many years?", limit=3)
    assert sum("Batteries last" in text for text in texts_of(passages)) == 1
    best = passages[0]
    at = PUMPS.index(best.text)
    assert (best.path, best.start) == ("a.txt", at + 7)
    assert best.also == (Place("b.txt", at, at + len(best.text)),)


def test_an_identical_document_is_another_place(index_of, ask):
    passages = ask(index_of({"a.txt": OFFICE, "copy/b.txt": OFFICE}), "when is lunch?", limit=1)
    assert passages[0].also == (Place("copy/b.txt", passages[0].start, passages[0].end),)


def test_max_per_file_leaves_room_for_others(index_of, ask):
    passages = ask(index_of(TEXTS), "pump office warranty batteries", limit=4, max_per_file=1)
    assert sorted(passage.path for passage in passages) == ["manual.txt", "office.txt"]


def test_context_adds_the_neighbouring_sentences(index_of, ask):
    snapshot = index_of(TEXTS)
    bare = ask(snapshot, "two years batteries", limit=1)[0]
    wide = ask(snapshot, "two years batteries", limit=1, context=1)[0]
    assert wide.start <= bare.start
    assert bare.end < wide.end or "Replace them" in bare.text
    assert "Keep the note." in wide.text


@pytest.mark.parametrize("budget", [1, 5, 30, 60, 200, 5000])
def test_a_budget_bounds_all_characters_and_is_used(index_of, ask, budget):
    passages = ask(index_of(TEXTS), "pump warranty", budget=budget)
    used = sum(map(len, texts_of(passages)))
    assert used <= budget
    assert used > 0
    for passage in passages:
        assert passage.text == TEXTS[passage.path][passage.start : passage.end]


@pytest.mark.parametrize("passages", PASSAGES)
@pytest.mark.parametrize("budget", [1, 2, 7, 20, 1000])
def test_a_budget_in_tokens_bounds_the_tokens_of_all_passages_and_is_used(index_of, ask, embedder, budget, passages):
    found = ask(index_of(TEXTS), "pump warranty", budget=budget, budget_unit="tokens", passages=passages)
    used = sum(len(embedder.tokens(passage.text).starts) for passage in found)
    assert used <= budget
    assert used > 0.5 * min(budget, 50)
    for passage in found:
        assert passage.text == TEXTS[passage.path][passage.start : passage.end]


def test_a_budget_in_tokens_without_a_model_is_an_error(index_of):
    with pytest.raises(UsageError, match="a budget in tokens needs the model"):
        search(index_of(TEXTS), None, "warranty", SearchSettings(mode="keyword", budget=9, budget_unit="tokens"))


def test_a_low_score_is_left_out(index_of, ask):
    snapshot = index_of(TEXTS)
    scores = [passage.score for passage in ask(snapshot, "pump warranty", limit=9)]
    assert scores == sorted(scores, reverse=True)
    least = scores[1]
    assert all(passage.score >= least for passage in ask(snapshot, "pump warranty", limit=9, min_score=least))
    assert ask(snapshot, "pump warranty", min_score=1.0) == []


def test_window_passages_end_at_blank_lines(index_of, ask):
    best = ask(index_of(TEXTS, size=40, overlap=0), "warranty begins", passages="window", limit=1)[0]
    assert best.text == PUMPS.split("\n\n")[1]


def test_chunk_passages_are_the_chunks(index_of, ask):
    snapshot = index_of(TEXTS, size=60, overlap=0)
    best = ask(snapshot, "batteries last for two years", passages="chunk", limit=1)[0]
    spans = {(row.start, row.end) for row in snapshot.chunks_of(1)} | {
        (row.start, row.end) for row in snapshot.chunks_of(2)
    }
    assert any(best.start <= start and end <= best.end for start, end in spans)


@pytest.mark.parametrize("question", ["", "  \n", "\x00\x07"])
def test_an_empty_question_is_refused(index_of, ask, question):
    with pytest.raises(UsageError, match="the question is empty"):
        ask(index_of(TEXTS), question)


@pytest.mark.parametrize(
    "question",
    [
        '"',
        '"""',
        "*",
        "NEAR(pump",
        "pump) OR (",
        "pump AND",
        "^pump",
        "{a b}: pump",
        "-",
        '-"',
        "pump\x00\x1b[31m",
        "🦀",
    ],
)
def test_odd_questions_get_an_answer_without_an_error(index_of, ask, question):
    snapshot = index_of(TEXTS)
    for mode in MODES:
        ask(snapshot, question, mode=mode)


def test_a_question_that_is_far_too_long_is_cut_and_said(index_of, ask):
    events = []
    passages = ask(index_of(TEXTS), "warranty " * 20_000, report=events.append, limit=1)
    assert "warranty" in passages[0].text
    assert [event.note for event in events] == ["the question has 179,999 characters; the first 4,000 are used"]


def test_an_empty_index_answers_with_nothing(index_of, ask):
    for mode in MODES:
        assert ask(index_of({}), "pump", mode=mode) == []


def test_the_order_of_insertion_does_not_matter(index_of, ask):
    texts = {f"{name}.txt": f"{name} pump. {PUMPS}" for name in ("a", "b", "c")}
    forward, backward = index_of(texts), index_of(dict(reversed(texts.items())))
    for mode in MODES:
        assert ask(forward, "pump warranty", mode=mode) == ask(backward, "pump warranty", mode=mode)


@pytest.fixture
def ask_markdown(tmp_path, embedder, ask):
    """Search one Markdown text, cut into chunks of some size."""

    def run(text, question, size=200, **settings):
        document = extract_bytes(text.encode(), "a.md", ExtractSettings())
        wanted = Settings(embed=EmbedSettings(model="hash"), chunk=ChunkSettings(size=size, overlap=0))
        build_documents([document], tmp_path / "index", wanted, embedder=embedder, publish=False)
        with open_snapshot(tmp_path / "index") as snapshot:
            return ask(snapshot, question, **settings)

    return run


def test_a_heading_is_one_with_what_follows_it(ask_markdown):
    text = "# Loans\n\n## Pump loan\n\nA pump is lent for ten days.\n\n## Noise\n\nA hum is fine.\n"
    best = ask_markdown(text, "pump loan", limit=1)[0]
    assert best.text == "# Loans\n\n## Pump loan\n\nA pump is lent for ten days."


@pytest.mark.parametrize("size", [20, 30, 50, 80, 200])
@pytest.mark.parametrize("budget", [0, 500])
@pytest.mark.parametrize("passages", ["sentence", "window"])
def test_a_heading_alone_is_no_answer(ask_markdown, size, budget, passages):
    text = "# Pump warranty\n\n| pump | months |\n|---|---|\n| P20 | 36 |\n\n## Pump repairs\n\nSend the pump to us.\n"
    for passage in ask_markdown(text, "pump warranty repairs", size, budget=budget, passages=passages):
        assert passage.text.splitlines()[-1] not in ("# Pump warranty", "## Pump repairs")


@pytest.mark.parametrize("budget", [0, 500])
def test_a_passage_of_sentences_ends_where_the_next_section_begins(ask_markdown, budget):
    text = (
        "# Pumps\n\nA pump has a warranty of two years.\n\n"
        "## Repairs\n\nA repaired pump has a warranty of one year.\n\n## Batteries\n\nA pump battery has no warranty.\n"
    )
    found = ask_markdown(text, "warranty of a pump", budget=budget)
    assert [passage.location.heading[-1] for passage in sorted(found, key=lambda each: each.start)] == [
        "Pumps", "Repairs", "Batteries",
    ]  # fmt: skip
    assert all("\n#" not in passage.text for passage in found)
