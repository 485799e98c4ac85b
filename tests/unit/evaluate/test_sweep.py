"""Sweeps over real indexes with the hash model: nothing embedded twice, nothing measured twice, nothing lost."""

from __future__ import annotations

import json

import pytest

from rag_index.embed import load_embedder
from rag_index.embed.cache import VectorCache
from rag_index.errors import UnknownNameError, UsageError
from rag_index.evaluate import Grid, Labels, Measure, Run, sweep
from rag_index.evaluate.formats import load_questions
from rag_index.evaluate.remembering import Remembering
from rag_index.evaluate.results import KEEP, Results
from rag_index.evaluate.sources import documents_in, documents_of
from rag_index.pipeline import build_documents
from rag_index.settings import ChunkSettings, EmbedSettings, ExtractSettings, Settings
from rag_index.types import Document, Event, Source, Status, Warn

BASE = Settings(chunk=ChunkSettings(size=120, overlap=20), embed=EmbedSettings(model="hash"))
SUBJECTS = ("valve", "motor", "filter", "sensor", "cable", "frame", "switch", "gauge")
MEASURE = Measure(k=2, budgets=(100, 400))


def documents() -> list[Document]:
    return [
        Document(
            Source(f"{subject}.txt", sha256=subject),
            text=" ".join(
                f"The {subject} number {n} is kept in hall {n * 7 % 13} and checked by team {n * 5 % 11}."
                for n in range(1, 9)
            ),
        )
        for subject in SUBJECTS
    ]


@pytest.fixture
def labels(tmp_path) -> Labels:
    known = {document.source.path: document for document in documents()}
    lines = []
    for subject in SUBJECTS:
        text = f"The {subject} number 3 is kept in hall 8"
        refs = [{"doc": f"{subject}.txt", "text": text}]
        lines.append(json.dumps({"id": subject, "question": f"Where is {subject} number 3 kept?", "refs": refs}))
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return load_questions(file, known)


def run(labels: Labels, cache, grid: Grid | None = None, **wishes) -> Run:
    cells, _ = (grid or Grid(sizes=(80, 160), overlaps=("0", "0.25"))).cells(BASE)
    return sweep(documents(), labels, cells, base=BASE, measure=MEASURE, cache=cache, **wishes)


def without_times(found: Run) -> list[object]:
    plain = [result.to_dict() for result in found.results]
    for result in plain:
        for name in ("build_seconds", "query_ms", "query_p95_ms"):
            del result["costs"][name]
    return plain


def test_a_sweep_measures_every_configuration_on_every_question(labels, tmp_path):
    found = run(labels, tmp_path)
    assert found.names == ["character 80/0", "character 80/20", "character 160/0", "character 160/40"]
    assert list(found.questions) == list(SUBJECTS)
    for result in found.results:
        assert set(result.scores) == set(MEASURE.names)
        assert all(len(values) == 8 for values in result.scores.values())
        assert all(len(places) <= 2 for places in result.answers)
        assert result.costs.chunks >= result.costs.vectors > 0
        assert result.costs.vector_bytes == result.costs.vectors * 256 * 4
    assert found.results[1].costs.stored > found.results[0].costs.stored == pytest.approx(1, abs=0.02)
    assert found.documents == 8


def test_a_second_sweep_embeds_nothing_and_finds_the_same(labels, tmp_path):
    first = run(labels, tmp_path)
    assert first.embedded > 0
    again = run(labels, tmp_path)
    assert (again.embedded, again.reused) == (0, 0)
    anew = run(labels, tmp_path, fresh=True)
    assert anew.embedded == 0
    assert anew.reused > 0
    assert without_times(first) == without_times(again) == without_times(anew)


def test_neighbouring_grids_share_vectors(labels, tmp_path):
    run(labels, tmp_path, Grid(sizes=(80,), overlaps=("0",)))
    events: list[Event] = []
    wider = run(labels, tmp_path, Grid(sizes=(80, 160), overlaps=("0",)), report=events.append)
    assert [event.note for event in events if event.stage == "eval" and event.note] == ["character 160/0"]
    assert events[0].done == 1
    assert wider.embedded > 0


@pytest.mark.model
def test_the_builds_of_a_sweep_warn_once(tmp_path):
    text = "Une pompe réparée est garantie douze mois, et la garantie commence le jour de la réparation. " * 3
    french = Document(Source("fr.txt"), text=text)
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"id": "1", "question": "Combien ?", "refs": [{"doc": "fr.txt", "text": "douze mois"}]}))
    base = Settings()
    events: list[Event] = []
    labels = load_questions(file, {"fr.txt": french})
    cells, _ = Grid(sizes=(100, 200), overlaps=("0",)).cells(base)
    sweep([french], labels, cells, base=base, measure=MEASURE, cache=tmp_path, report=events.append)
    assert len([event for event in events if event.stage == "warning"]) == 1


def test_an_interrupted_sweep_goes_on_where_it_was(labels, tmp_path):
    def stop(event: Event) -> None:
        if event.stage == "eval" and event.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(labels, tmp_path, report=stop)
    events: list[Event] = []
    found = run(labels, tmp_path, report=events.append)
    built = [event.note for event in events if event.stage == "eval" and event.note]
    assert 1 <= len(built) <= 3
    assert without_times(found) == without_times(run(labels, tmp_path / "other"))


def test_a_result_that_is_half_written_is_measured_again(labels, tmp_path):
    first = run(labels, tmp_path)
    for file in (tmp_path / "evaluations").rglob("*.json"):
        file.write_text(file.read_text(encoding="utf-8")[:50], encoding="utf-8")
    assert without_times(run(labels, tmp_path)) == without_times(first)


def test_more_processes_find_the_same(labels, tmp_path):
    assert without_times(run(labels, tmp_path / "two", jobs=2)) == without_times(run(labels, tmp_path / "one"))


def test_modes_and_passages_share_one_index(labels, tmp_path):
    events: list[Event] = []
    grid = Grid(modes=("dense", "keyword", "hybrid"), passages=("chunk", "sentence"))
    found = run(labels, tmp_path, grid, report=events.append)
    assert len([event for event in events if event.stage == "eval" and event.note]) == 1
    assert found.names[0] == "character 120/20 dense chunks"
    assert len(found.results) == 6


def test_other_documents_questions_or_measures_are_another_sweep(labels, tmp_path):
    known = {
        Results.of(tmp_path, given, labels.questions[:count], measure).folder
        for given in (documents(), documents()[:-1])
        for count in (8, 7)
        for measure in (MEASURE, Measure())
    }
    assert len(known) == 8


def test_only_the_last_sweeps_are_kept(labels, tmp_path):
    found = run(labels, tmp_path / "cache", Grid()).results[0]
    for number in range(KEEP + 5):
        Results(tmp_path / "kept" / str(number)).put(found)
    assert len(list((tmp_path / "kept").iterdir())) == KEEP


def test_of_a_model_that_is_not_here_there_is_no_result(tmp_path):
    cells, _ = Grid(models=("nowhere/at-all",)).cells(BASE)
    assert Results(tmp_path).get(cells[0]) is None


def test_results_that_can_not_be_kept_are_only_not_kept(labels, tmp_path):
    (tmp_path / "evaluations").write_text("in the way", encoding="utf-8")
    assert len(run(labels, tmp_path, Grid()).results) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cells": []}, "no configuration to measure"),
        ({"documents": []}, "no document with text"),
        ({"documents": [Document(Source("x"), Status.NO_TEXT)]}, "no document with text"),
        ({"jobs": 0}, "jobs is 0"),
    ],
)
def test_a_sweep_of_nothing_is_refused(labels, tmp_path, change, words):
    given = {"documents": documents(), "labels": labels, "cells": Grid().cells(BASE)[0], **change}
    with pytest.raises(UsageError, match=words):
        sweep(**given, cache=tmp_path)
    assert not list(tmp_path.glob("evaluations/*"))


def test_an_unknown_chunker_is_refused_before_anything_is_built(labels, tmp_path):
    with pytest.raises(UnknownNameError, match="unknown chunker 'charakter'"):
        run(labels, tmp_path, Grid(chunkers=("character", "charakter")))


def test_what_the_caller_and_the_documents_warn_of_stands_in_the_run(labels, tmp_path):
    twice = [*documents(), Document(Source("copy.txt"), text=documents()[0].text)]
    cells, _ = Grid().cells(BASE)
    found = sweep(twice, labels, cells, measure=MEASURE, cache=tmp_path, warnings=[Warn("left_out", "one")])
    assert [warning.code for warning in found.warnings] == ["left_out", "repetition"]


def test_an_index_that_is_there_is_asked_itself(labels, tmp_path):
    with VectorCache(tmp_path / "vectors.sqlite") as cache:
        embedder = Remembering(lambda: load_embedder(BASE.embed), cache)
        build_documents(documents(), tmp_path / "index", BASE, embedder=embedder, publish=False)
    known = documents_of(tmp_path / "index")
    assert list(known) == sorted(document.source.path for document in documents())
    events: list[Event] = []
    cells, _ = Grid().cells(BASE)
    ready = {cells[0].build_key: tmp_path / "index"}
    found = sweep(
        list(known.values()),
        labels,
        cells,
        base=BASE,
        measure=MEASURE,
        cache=tmp_path,
        ready=ready,
        report=events.append,
    )
    assert found.embedded == 0
    assert {event.stage for event in events} == {"eval"}
    assert without_times(found) == without_times(run(labels, tmp_path / "other", Grid()))


def test_folders_are_read_with_names_relative_to_what_they_share(tmp_path):
    for name in ("a/one.txt", "a/b/two.md", "c/three.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Text of {name}.", encoding="utf-8")
    (tmp_path / "a" / "empty.txt").write_text("", encoding="utf-8")
    events: list[Event] = []
    assert list(documents_in([tmp_path / "a"], ExtractSettings(), report=events.append)) == ["b/two.md", "one.txt"]
    assert events[-1].done == events[-1].total == 3
    assert sorted(documents_in([tmp_path / "a", tmp_path / "c" / "three.txt"], ExtractSettings())) == [
        "a/b/two.md",
        "a/one.txt",
        "c/three.txt",
    ]


def test_a_folder_without_text_is_refused(tmp_path):
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="has text"):
        documents_in([tmp_path], ExtractSettings())


def test_questions_are_embedded_once_for_good_and_apart_from_documents(tmp_path):
    loaded = []

    def load():
        loaded.append(1)
        return load_embedder(BASE.embed)

    with VectorCache(tmp_path / "vectors.sqlite") as cache:
        first = Remembering(load, cache)
        vector = first.embed_query("Where is it?")
        info = first.info
        assert len(cache) == 1
        assert first.tokens("a b") is first.tokens("a b")
    with VectorCache(tmp_path / "vectors.sqlite") as cache:
        later = Remembering(load, cache, info)
        assert later.embed_query("Where is it?").tolist() == vector.tolist()
        assert len(loaded) == 1
        assert later.batch_tokens >= 0
        assert len(loaded) == 2
