"""Question files: what is accepted, what is mended, what is refused and with which words."""

from __future__ import annotations

import json

import pytest

from rag_index.errors import LabelError
from rag_index.evaluate.formats import load_questions, squad_documents
from rag_index.evaluate.labels import question_line
from rag_index.types import Document, Place, Source

GUIDE = "The pump is red.\n\nThe valve must be closed before the pump is started again."
NOTES = "Notes.\n\nThe valve must be closed before the pump is started again. The end."


def documents(**texts: str) -> dict[str, Document]:
    texts = texts or {"docs/guide.md": GUIDE, "docs/notes.txt": NOTES}
    return {name: Document(Source(name), text=text) for name, text in texts.items()}


def write(tmp_path, *entries: object, name: str = "questions.jsonl"):
    file = tmp_path / name
    lines = (entry if isinstance(entry, str) else json.dumps(entry) for entry in entries)
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def entry(**changes: object) -> dict[str, object]:
    ref = {"doc": "docs/guide.md", "start": 0, "end": 16, "text": "The pump is red."}
    return {"id": "a", "question": "What colour is the pump?", "refs": [ref], **changes}


def ref(**changes: object) -> dict[str, object]:
    whole = {"doc": "docs/guide.md", "start": 0, "end": 16, "text": "The pump is red.", **changes}
    return {name: value for name, value in whole.items() if value is not None}


def test_a_right_file_is_read_as_it_stands(tmp_path):
    labels = load_questions(write(tmp_path, entry(tags=["colour"]), ""), documents())
    (question,) = labels.questions
    assert (question.id, question.text, question.tags) == ("a", "What colour is the pump?", ("colour",))
    assert question.references[0].places == (Place("docs/guide.md", 0, 16),)
    assert labels.warnings == ()


@pytest.mark.parametrize("name", ["docs/guide.md", "guide.md", "guide", "docs/guide"])
def test_a_document_may_be_named_by_any_tail_that_names_one(tmp_path, name):
    labels = load_questions(write(tmp_path, entry(refs=[ref(doc=name)])), documents())
    assert labels.questions[0].references[0].places[0].path == "docs/guide.md"


def test_a_text_that_has_moved_is_found_again_and_said(tmp_path):
    labels = load_questions(write(tmp_path, entry(refs=[ref(start=3, end=19)])), documents())
    assert labels.questions[0].references[0].places == (Place("docs/guide.md", 0, 16),)
    (warning,) = labels.warnings
    assert warning.code == "moved"
    assert "line 1: found at 0 in docs/guide.md, not at 3" in warning.message


def test_of_several_places_the_nearest_to_the_old_one_is_taken(tmp_path):
    known = documents(a="red pump. " * 3)
    labels = load_questions(write(tmp_path, entry(refs=[ref(doc="a", text="red pump.", start=12, end=21)])), known)
    assert labels.questions[0].references[0].places == (Place("a", 10, 19),)


def test_text_alone_is_enough_and_each_place_of_it_will_do(tmp_path):
    known = documents(a="red pump. " * 2)
    labels = load_questions(write(tmp_path, entry(refs=[ref(doc="a", text="red pump.", start=None, end=None)])), known)
    assert labels.questions[0].references[0].places == (Place("a", 0, 9), Place("a", 10, 19))


def test_offsets_alone_are_enough(tmp_path):
    labels = load_questions(write(tmp_path, entry(refs=[ref(text=None)])), documents())
    assert labels.questions[0].references[0].places == (Place("docs/guide.md", 0, 16),)


def test_text_with_other_white_space_is_found(tmp_path):
    text = "The pump\nis  red."
    labels = load_questions(write(tmp_path, entry(refs=[ref(text=text)])), documents())
    assert labels.questions[0].references[0].places == (Place("docs/guide.md", 0, 16),)


def test_alternatives_are_places_of_one_reference_and_are_written_back(tmp_path):
    also = ref(doc="docs/notes.txt", start=0, end=6, text="Notes.")
    labels = load_questions(write(tmp_path, entry(refs=[{**ref(), "also": [also]}])), documents())
    assert labels.questions[0].references[0].places == (Place("docs/guide.md", 0, 16), Place("docs/notes.txt", 0, 6))
    again = load_questions(write(tmp_path, question_line(labels.questions[0], documents())), documents())
    assert again.questions == labels.questions


def test_exact_repeats_of_a_long_reference_are_accepted_and_reported(tmp_path):
    sentence = "The valve must be closed before the pump is started again."
    wanted = ref(start=18, end=18 + len(sentence), text=sentence)
    labels = load_questions(write(tmp_path, entry(refs=[wanted])), documents())
    assert labels.questions[0].references[0].repeats == (Place("docs/notes.txt", 8, 8 + len(sentence)),)
    assert labels.warnings[0].code == "gold_repeated"


def test_repeats_of_a_short_reference_are_chance_and_not_accepted(tmp_path):
    labels = load_questions(write(tmp_path, entry()), documents(**{"docs/guide.md": GUIDE, "b": GUIDE[:16]}))
    assert labels.questions[0].references[0].repeats == ()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        pytest.param([entry(), "{"], "line 2 is not JSON", id="broken JSON"),
        pytest.param(["[1]"], "line 1 is not a JSON object", id="not an object"),
        pytest.param([], "holds no question", id="no question"),
        pytest.param([entry(question=" ")], "line 1: the question is empty", id="empty question"),
        pytest.param([entry(question=3)], "line 1: question is 3, not text", id="question of the wrong kind"),
        pytest.param([entry(refs=[])], "line 1: question 'a' has no reference", id="no reference"),
        pytest.param([entry(refs="x")], "line 1: refs is not a list", id="refs of the wrong kind"),
        pytest.param([entry(refs=[{"doc": 1}])], "line 1: a reference of the wrong shape", id="doc of the wrong kind"),
        pytest.param([entry(refs=[ref(start="0")])], "line 1: a reference of the wrong shape", id="offset as text"),
        pytest.param([entry(refs=[{**ref(), "also": 3}])], "line 1: also is not a list", id="also of the wrong kind"),
        pytest.param([entry(refs=[{**ref(), "also": [3]}])], "line 1: a reference of the wrong", id="also of numbers"),
        pytest.param([entry(tags=[1])], "line 1: tags is not a list", id="tags of the wrong kind"),
        pytest.param([entry(), entry()], "the id 'a' is used 2 times", id="duplicate ids"),
        pytest.param([entry(refs=[ref(text="blue")])], "docs/guide.md does not hold 'blue'", id="text not there"),
        pytest.param([entry(refs=[ref(text="b" * 90)])], f"{'b' * 57}...", id="a long text is cut in the message"),
        pytest.param([entry(refs=[ref(text=None, end=900)])], "0 to 900 is no span of", id="offsets out of range"),
        pytest.param([entry(refs=[ref(text=None, start=5, end=5)])], "5 to 5 is no span of", id="empty span"),
        pytest.param([entry(refs=[ref(text=None, end=None)])], "has neither text nor offsets", id="nothing to go by"),
        pytest.param([entry(refs=[ref(text=" ", end=9)])], "has neither text nor offsets", id="blank text"),
        pytest.param([entry(refs=[ref(doc="docs/guide.mdx")])], "no document 'docs/guide.mdx'", id="unknown document"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path, lines, words):
    with pytest.raises(LabelError) as caught:
        load_questions(write(tmp_path, *lines), documents())
    assert words in str(caught.value)
    assert caught.value.hint
    assert caught.value.exit_code == 2


def test_an_unknown_document_gets_the_nearest_name(tmp_path):
    with pytest.raises(LabelError) as caught:
        load_questions(write(tmp_path, entry(refs=[ref(doc="docs/guide.mdx")])), documents())
    assert caught.value.hint == "Did you mean 'docs/guide.md'?"


def test_a_name_that_fits_two_documents_is_refused(tmp_path):
    with pytest.raises(LabelError, match=r"'guide' may be a/guide.md or b/guide.md"):
        load_questions(
            write(tmp_path, entry(refs=[ref(doc="guide")])), documents(**{"a/guide.md": GUIDE, "b/guide.md": GUIDE})
        )


def test_a_missing_file_and_a_file_that_is_not_utf8_are_refused(tmp_path):
    with pytest.raises(LabelError, match="can't read"):
        load_questions(tmp_path / "none.jsonl", documents())
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(LabelError, match="not UTF-8 at byte 8"):
        load_questions(tmp_path / "latin.jsonl", documents())


def test_the_same_question_twice_is_said(tmp_path):
    labels = load_questions(write(tmp_path, entry(), entry(id="b")), documents())
    assert [warning.code for warning in labels.warnings] == ["question_twice"]


CSV = (
    "question,references,corpus_id\n"
    'What colour?,"[{""content"": ""The pump is red."", ""start_index"": 0, ""end_index"": 16}]",guide\n'
)
SQUAD = {
    "data": [
        {
            "title": "Pumps",
            "paragraphs": [
                {
                    "context": GUIDE,
                    "qas": [
                        {
                            "id": "s1",
                            "question": "Which colour?",
                            "answers": [{"text": "red", "answer_start": 12}, {"text": "is red", "answer_start": 9}],
                        },
                        {"id": "s2", "question": "Why?", "answers": []},
                    ],
                }
            ],
        }
    ]
}
YAML = """questions:
  - id: y1
    query: Which colour?
    gold_snippets:
      - The pump is red.
      - - The valve must be closed
        - Notes.
"""


def test_chromas_csv_is_read(tmp_path):
    (question,) = load_questions(write(tmp_path, CSV, name="q.csv"), documents()).questions
    assert (question.id, question.tags) == ("1", ("guide",))
    assert question.references[0].places == (Place("docs/guide.md", 0, 16),)


def test_squad_is_read_with_its_answers_as_alternatives(tmp_path):
    labels = load_questions(write(tmp_path, SQUAD, name="q.json"), documents(x="Before. " + GUIDE))
    (question,) = labels.questions
    assert question.references[0].places == (Place("x", 17, 23), Place("x", 20, 23))
    assert [warning.code for warning in labels.warnings] == ["unanswerable"]


def test_squad_brings_its_own_documents(tmp_path):
    file = write(tmp_path, SQUAD, name="q.json")
    known = squad_documents(file)
    assert list(known) == ["0001 Pumps"]
    (question,) = load_questions(file, known).questions
    assert question.references[0].places[1].path == "0001 Pumps"


def test_yaml_snippets_are_found_wherever_they_stand(tmp_path):
    (question,) = load_questions(write(tmp_path, YAML, name="q.yaml"), documents()).questions
    assert question.references[0].places == (Place("docs/guide.md", 0, 16),)
    assert [place.path for place in question.references[1].places] == [
        "docs/guide.md",
        "docs/notes.txt",
        "docs/notes.txt",
    ]


def test_a_yaml_snippet_with_other_white_space_is_found_and_said(tmp_path):
    text = "- {id: y, question: 'Which?', snippets: ['The   pump is red.']}"
    labels = load_questions(write(tmp_path, text, name="q.yml"), documents())
    assert labels.questions[0].references[0].places == (Place("docs/guide.md", 0, 16),)
    assert labels.warnings[0].code == "white_space"


@pytest.mark.parametrize(
    "judgements",
    ["t1 0 docs/guide.md 1\nt1 0 docs/notes.txt 0\n", "query-id\tcorpus-id\tscore\nt1\tdocs/guide.md\t2\n"],
)
@pytest.mark.parametrize(
    "queries",
    [
        ("queries.tsv", "t1\tWhich colour?\nt2\tWhy?\n"),
        ("queries.jsonl", '{"_id": "t1", "text": "Which colour?"}\n{"_id": "t2", "text": "Why?"}'),
    ],
)
def test_trec_judgements_make_whole_documents_the_references(tmp_path, judgements, queries):
    write(tmp_path, queries[1], name=queries[0])
    labels = load_questions(write(tmp_path, judgements, name="qrels.test"), documents())
    (question,) = labels.questions
    assert question.text == "Which colour?"
    assert [reference.places for reference in question.references] == [(Place("docs/guide.md", 0, len(GUIDE)),)]
    assert labels.warnings[0].code == "unanswerable"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        pytest.param("q.csv", "a,b\n1,2\n", "has the columns a, b", id="CSV of other columns"),
        pytest.param("q.csv", "", "has the columns of nothing", id="empty CSV"),
        pytest.param(
            "q.csv", "question,references,corpus_id\nWhy?,[1],guide\n", "line 2: the references", id="CSV refs"
        ),
        pytest.param("q.json", "{", "is not a SQuAD file", id="broken JSON"),
        pytest.param(
            "q.json", '{"data": [{"paragraphs": [{"context": "", "qas": []}]}]}', "is not a SQuAD", id="no context"
        ),
        pytest.param(
            "q.json",
            '{"data": [{"paragraphs": [{"context": "else", "qas": []}]}]}',
            "article 1, paragraph 1",
            id="context not there",
        ),
        pytest.param("q.yaml", "a: [", "is not valid YAML", id="broken YAML"),
        pytest.param("q.yaml", "a: 1", "holds no list of questions", id="YAML without questions"),
        pytest.param(
            "q.yaml", "- {query: Why, gold_snippets: 3}", "line 1: gold_snippets", id="snippets of the wrong kind"
        ),
        pytest.param(
            "q.yaml", "- {query: Why, gold_snippets: [nowhere]}", "no document holds 'nowhere'", id="snippet not there"
        ),
        pytest.param("qrels", "t1 0 d 1", "no questions beside", id="qrels without questions"),
    ],
)
def test_a_wrong_file_of_another_tool_is_refused(tmp_path, name, text, words):
    with pytest.raises(LabelError) as caught:
        load_questions(write(tmp_path, text, name=name), documents())
    assert words in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("queries", "judgements", "words"),
    [
        ('{"_id": "t1", "text": "Why?"}', "t1 0 docs/guide.md x", "line 1 is no judgement"),
        ('{"_id": "t1", "text": "Why?"}', "t1", "line 1 is no judgement"),
        ('{"_id": "t1", "text": "Why?"}', "t9 0 docs/guide.md 1", "line 1: no text for question 't9'"),
        ('{"_id": "t1", "text": "Why?"}', "t1 0 docs/none.md 1", "there is no document 'docs/none.md'"),
        ("{", "t1 0 docs/guide.md 1", "queries.jsonl"),
    ],
)
def test_wrong_judgements_are_refused_with_their_line(tmp_path, queries, judgements, words):
    write(tmp_path, queries, name="queries.jsonl")
    with pytest.raises(LabelError) as caught:
        load_questions(write(tmp_path, judgements, name="test.qrels"), documents())
    assert words in str(caught.value)


def test_all_790_labels_of_chunking_evaluation_hold(shared):
    folder = shared / "data" / "chunking_evaluation"
    known = {
        path.name: Document(Source(path.name), text=path.read_bytes().decode())
        for path in sorted((folder / "corpora").iterdir())
    }
    labels = load_questions(folder / "questions_df.csv", known)
    assert len(labels.questions) == 472
    assert sum(len(question.references) for question in labels.questions) == 790
    assert [warning.code for warning in labels.warnings] == ["gold_repeated"]
    assert labels.warnings[0].count == 90


@pytest.mark.parametrize(
    ("file", "count"), [("xquad/xquad.en.json", 1190), ("xquad/xquad.zh.json", 1190), ("jsquad/valid-v1.3.json", 4442)]
)
def test_squad_files_in_other_scripts_hold_to_the_character(shared, file, count):
    path = shared / "data" / file
    labels = load_questions(path, squad_documents(path))
    assert len(labels.questions) == count
    assert not [warning for warning in labels.warnings if warning.code in {"moved", "white_space"}]
