"""Is the paragraph with the answer found first: in four languages, and by a question in another language?

XQuAD (en, es, zh: the same 1,190 questions over 240 paragraphs) and the validation set of JSQuAD (ja: 4,442 questions
over 1,145 paragraphs), each paragraph a document, through our own build and search. The first row is what other
tools do: paragraph and question through sentence-transformers, cosine, nothing else.

    python benchmarks/languages/run.py                                      # everything: about an hour on two cores
    python benchmarks/languages/run.py --paragraphs 400 --questions 100     # the first paragraphs, some questions
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_index.embed import load_embedder
from rag_index.embed.files import find_model
from rag_index.embed.languages import MULTILINGUAL
from rag_index.embed.models import load_model
from rag_index.pipeline import build_documents
from rag_index.search import search
from rag_index.settings import DEFAULT_MODEL, EmbedSettings, SearchSettings, Settings
from rag_index.store import Snapshot, open_snapshot
from rag_index.types import Document, Embedder, Source, Tokens

if TYPE_CHECKING:
    from rag_index.types import Matrix, Vector

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared/data"
FILES = {
    "en": "xquad/xquad.en.json",
    "es": "xquad/xquad.es.json",
    "zh": "xquad/xquad.zh.json",
    "ja": "jsquad/valid-v1.3.json",
}
GOALS = {
    DEFAULT_MODEL: {"en": 0.945, "es": 0.90, "zh": 0.92, "ja": 0.89},
    MULTILINGUAL: {"en": 0.94, "es": 0.915, "zh": 0.94, "ja": 0.90, "es>en": 0.71},
}
MODES = ("hybrid", "dense", "keyword")
KEPT = 5  # passages asked for: hit@1 and hit@5
SPEED_TEXTS = 60


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the path of the paragraph with its answer, and where the answer stands there."""

    text: str
    path: str
    answers: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Data:
    """One set: paragraphs by path, and questions."""

    paragraphs: dict[str, str]
    questions: list[Question]


def load(language: str, most: int) -> Data:
    """Read the first paragraphs of a set (0: all); they keep every character, U+FEFF at the start included."""
    articles = json.loads((SHARED / FILES[language]).read_bytes())["data"]
    paragraphs, questions = {}, []
    every = [paragraph for article in articles for paragraph in article["paragraphs"]]
    for number, paragraph in enumerate(every[: most or None]):
        path = f"{number:04}.txt"
        paragraphs[path] = paragraph["context"]
        for asked in paragraph["qas"]:
            answers = tuple((answer["answer_start"], answer["text"]) for answer in asked["answers"])
            questions.append(Question(asked["question"], path, answers))
    return Data(paragraphs, questions)


class Prepared:
    """An embedder whose questions were embedded beforehand, in batches, which takes a tenth of the time."""

    def __init__(self, embedder: Embedder, questions: Sequence[str]) -> None:
        self._embedder = embedder
        matrix = np.concatenate([embedder.embed(questions[at : at + 64]) for at in range(0, len(questions), 64)])
        self._known = dict(zip(questions, matrix, strict=True))
        first = embedder.embed_query(questions[0])
        assert first @ self._known[questions[0]] > 0.999, "questions have a prompt of their own"

    info = property(lambda self: self._embedder.info)

    def tokens(self, text: str) -> Tokens:
        return self._embedder.tokens(text)

    def embed(self, texts: Sequence[str]) -> Matrix:
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Vector:
        found = self._known.get(text)
        return self._embedder.embed_query(text) if found is None else found  # search leaves `-term` and the like out


@contextmanager
def index_of(data: Data, embedder: Embedder, settings: Settings) -> Iterator[Snapshot]:
    """Build an index of the paragraphs in a folder that is gone afterwards."""
    documents = (Document(Source(path, format="text"), text=text) for path, text in data.paragraphs.items())
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / ".rag-index"
        build_documents(documents, index, settings, embedder=embedder, publish=False)
        with open_snapshot(index) as snapshot:
            yield snapshot


def hits(ranked: Callable[[str], Sequence[str]], questions: Sequence[Question]) -> dict[str, float]:
    """Return hit@1 and hit@5: the share of questions whose paragraph is first, or among the first five."""
    ranks = [list(ranked(question.text)) for question in questions]
    pairs = list(zip(ranks, questions, strict=True))
    return {
        "hit@1": round(sum(question.path in found[:1] for found, question in pairs) / len(pairs), 4),
        "hit@5": round(sum(question.path in found[:KEPT] for found, question in pairs) / len(pairs), 4),
    }


def paths(snapshot: Snapshot, embedder: Embedder, mode: str, question: str) -> list[str]:
    """Return the documents of the best passages."""
    return [hit.path for hit in search(snapshot, embedder, question, SearchSettings(limit=KEPT, mode=mode))]


def plain(embedder: Embedder, data: Data) -> Callable[[str], list[str]]:
    """Rank as other tools do: one vector a paragraph, cut where the model stops reading, cosine."""
    names = list(data.paragraphs)
    matrix = np.concatenate([embedder.embed([data.paragraphs[name]]) for name in names])

    def ranked(question: str) -> list[str]:
        best = np.argsort(-(matrix @ embedder.embed_query(question)), kind="stable")[:KEPT]
        return [names[at] for at in best]

    return ranked


def misplaced(snapshot: Snapshot, data: Data) -> int:
    """Count the answers that don't lie at their offset in the stored text."""
    ids = {row.path: row.id for row in snapshot.documents()}
    texts = {path: snapshot.document(id_).text for path, id_ in ids.items()}
    return sum(
        texts[question.path][start : start + len(answer)] != answer
        for question in data.questions
        for start, answer in question.answers
    )


def measure(model: str, sets: dict[str, Data], asked: dict[str, list[Question]]) -> dict[str, dict[str, object]]:
    """Return the figures of one model by set; ``es>en``: Spanish questions over English paragraphs."""
    settings = Settings(embed=EmbedSettings(model=model))
    texts = sorted({question.text for questions in asked.values() for question in questions})
    embedder = Prepared(load_embedder(settings.embed), texts)
    found: dict[str, dict[str, object]] = {}
    for name, data in sets.items():
        with index_of(data, embedder, settings) as snapshot:
            found[name] = {mode: hits(partial(paths, snapshot, embedder, mode), asked[name]) for mode in MODES}
            found[name]["misplaced answers"] = misplaced(snapshot, data)
            if name == "en":
                found["es>en"] = {mode: hits(partial(paths, snapshot, embedder, mode), asked["es"]) for mode in MODES}
        print(model, name, found[name], file=sys.stderr, flush=True)
    return found


def baseline(sets: dict[str, Data], asked: dict[str, list[Question]]) -> dict[str, dict[str, float]]:
    """Return what MiniLM finds alone (in fp32, whose vectors are sentence-transformers' to a cosine of 0.9999)."""
    texts = sorted({question.text for questions in asked.values() for question in questions})
    embedder = Prepared(load_embedder(EmbedSettings(precision="fp32")), texts)
    found = {}
    for name, data in sets.items():
        ranked = plain(embedder, data)
        found[name] = hits(ranked, asked[name])
        if name == "en":
            found["es>en"] = hits(ranked, asked["es"])
        print("plain MiniLM", name, found[name], file=sys.stderr, flush=True)
    return found


def speed(sets: dict[str, Data]) -> dict[str, dict[str, float]]:
    """Return how many times faster `use-multilingual` embeds than sentence-transformers' `encode` with MiniLM.

    By language and for all together; medians of three turns. CPU seconds over all threads bear other work on the
    machine, the clock is beside them.
    """
    texts = {name: list(data.paragraphs.values())[:SPEED_TEXTS] for name, data in sets.items()}
    texts["all"] = [text for part in texts.values() for text in part[:: len(sets)]]
    fast = load_embedder(EmbedSettings(model=MULTILINGUAL))
    slow = load_model(find_model(DEFAULT_MODEL), "cpu")
    return {
        name: _ratio(partial(fast.embed, part), partial(slow.encode, part, normalize_embeddings=True))
        | {"texts": len(part)}
        for name, part in texts.items()
    }


def _ratio(fast: Callable[[], object], slow: Callable[[], object]) -> dict[str, float]:
    took: dict[str, list[tuple[float, float]]] = {"fast": [], "slow": []}
    for turn in range(4):
        for name, work in (("fast", fast), ("slow", slow)):
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            if turn:  # the first warms up
                took[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    cpus, walls = ({name: statistics.median(times) for name, times in _column(took, at).items()} for at in (0, 1))
    return {
        "use-multilingual, CPU seconds": round(cpus["fast"], 3),
        "encode, CPU seconds": round(cpus["slow"], 3),
        "times faster": round(cpus["slow"] / cpus["fast"], 2),
        "times faster by the clock": round(walls["slow"] / walls["fast"], 2),
    }


def _column(took: dict[str, list[tuple[float, float]]], at: int) -> dict[str, list[float]]:
    return {name: [pair[at] for pair in pairs] for name, pairs in took.items()}


def figures(results: dict[str, Any]) -> list[dict[str, object]]:
    """Each figure beside its goal."""
    made = []
    for model, goals in GOALS.items():
        found, short = results["models"][model], model.rpartition("/")[2]
        for key, goal in goals.items():
            value = found[key]["hybrid"]["hit@1"]
            made.append(_figure(f"hit@1, {short}, {key}", value, goal))
        for key in FILES:
            better = max(found[key]["dense"]["hit@1"], found[key]["keyword"]["hit@1"])
            made.append(
                _figure(f"... {key}, above the better side", round(found[key]["hybrid"]["hit@1"] - better, 4), -0.005)
            )
    misplaced_ = sum(found[key]["misplaced answers"] for found in results["models"].values() for key in FILES)
    made.append({"what": "answers not at their place", "value": misplaced_, "goal": "0", "met": misplaced_ == 0})
    made.append(_figure("use-multilingual, speed of encode with MiniLM", results["speed"]["all"]["times faster"], 4))
    return made


def _figure(what: str, value: float, goal: float) -> dict[str, object]:
    return {"what": what, "value": value, "goal": f">= {goal:g}", "met": value >= goal}


def rows(results: dict[str, object]) -> list[dict[str, str]]:
    """Return the rows for the README."""
    plain_, models, asked = results["plain MiniLM"], results["models"], results["questions"]
    assert isinstance(plain_, dict)
    assert isinstance(models, dict)
    assert isinstance(asked, dict)
    names = {
        "en": "English",
        "es": "Spanish",
        "zh": "Chinese",
        "ja": "Japanese",
        "es>en": "Spanish question, English text",
    }
    made = []
    for key, name in names.items():
        ours = ", ".join(
            f"{model.rpartition('/')[2]} {found[key]['hybrid']['hit@1']:.3f}" for model, found in models.items()
        )
        made.append(
            {
                "what": f"right paragraph first, {name} ({asked[key.partition('>')[0]]} questions)",
                "ours": ours,
                "others": f"MiniLM alone, as other tools use it {plain_[key]['hit@1']:.3f}",
            }
        )
    return made


def main() -> int:
    """Measure, print the table, write the figures beside this file (they say how many questions were asked)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=0)
    parser.add_argument("--paragraphs", type=int, default=0)
    given = parser.parse_args()
    wanted = given.questions
    if not SHARED.is_dir():
        print(f"skipped: {SHARED} is not here", file=sys.stderr)
        return 0
    sets = {name: load(name, given.paragraphs) for name in FILES}
    asked = {
        name: data.questions[:: max(1, len(data.questions) // wanted) if wanted else 1] for name, data in sets.items()
    }
    results: dict[str, object] = {
        "paragraphs": {name: len(data.paragraphs) for name, data in sets.items()},
        "questions": {name: len(questions) for name, questions in asked.items()},
        "plain MiniLM": baseline(sets, asked),
        "models": {model: measure(model, sets, asked) for model in (DEFAULT_MODEL, MULTILINGUAL)},
        "speed": speed(sets),
        "cores": os.cpu_count(),
        "goals": GOALS,
    }
    results["figures"] = figures(results)
    results["readme"] = rows(results)
    table(results)
    (HERE / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def table(results: dict[str, object]) -> None:
    """Print hit@1 by set, with the goal in brackets."""
    models = results["models"]
    plain_ = results["plain MiniLM"]
    assert isinstance(models, dict)
    assert isinstance(plain_, dict)
    keys = [*FILES, "es>en"]
    print(f"{'hit@1':44}" + "".join(f"{key:>14}" for key in keys))
    print(f"{'MiniLM alone, as other tools use it':44}" + "".join(f"{plain_[key]['hit@1']:14.3f}" for key in keys))
    for model, found in models.items():
        for mode in MODES:
            cells = [f"{found[key][mode]['hit@1']:.3f}" + _goal(model, mode, key) for key in keys]
            print(f"{model.rpartition('/')[2] + ', ' + mode:44}" + "".join(f"{cell:>14}" for cell in cells))


def _goal(model: str, mode: str, key: str) -> str:
    goal = GOALS[model].get(key)
    return f" ({goal:.3f})" if goal and mode == "hybrid" else ""


if __name__ == "__main__":
    sys.exit(main())
