"""Measure the product's own search on the 472 labelled questions of Chroma's chunking report.

    python benchmarks/retrieval/run.py [--quick]

Two indexes are built by the product's pipeline with all-MiniLM-L6-v2: one over the published chunks (recursive, 200
cl100k tokens, no overlap; needs requirements-bench.txt) so that figures compare with published ones, one over the
product's default chunks. Vectors are kept in the user-wide cache, so only the first run embeds. Everything that
answers is `rag_index.search.query.offers` and `select`, the very code behind `rag-index query`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import distribution
from itertools import product
from pathlib import Path

import numpy as np

from rag_index.chunk import chunkers
from rag_index.embed import load_embedder
from rag_index.embed.cache import VectorCache
from rag_index.evaluate import load_questions
from rag_index.evaluate.axis import Axis, chosen
from rag_index.evaluate.metrics import fresh, score
from rag_index.pipeline import build, build_documents
from rag_index.search.library import Library
from rag_index.search.passages import select
from rag_index.search.query import offers
from rag_index.search.ranking import MIX, Mix
from rag_index.settings import ChunkSettings, SearchSettings, Settings, StoreSettings
from rag_index.store import Snapshot, open_snapshot
from rag_index.store.keywords import parse_question, question_terms
from rag_index.types import Document, Place, Source, Span, Tokens

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data" / "chunking_evaluation"
DATA_OF_OUR_OWN = HERE.parents[1] / "data"
BUDGETS = (250, 500, 1000, 1250, 1500, 2000, 3000, 4000, 6000)
METHODS = {
    "dense chunks": (SearchSettings(mode="dense", passages="chunk"), Mix(neighbours=0, best=0)),
    "keyword chunks": (SearchSettings(mode="keyword", passages="chunk"), Mix(neighbours=0, best=0)),
    "hybrid chunks": (SearchSettings(passages="chunk"), MIX),
    "hybrid sentences (the default)": (SearchSettings(), MIX),
}
GRID = [
    Mix(keywords=k, neighbours=n, sentence=s, before=b)
    for k, n, s, b in product((0.5, 0.6, 0.7), (0.1, 0.2), (0.25, 0.5), (0.1,))
]
RESAMPLES = 10_000


class Unlimited:
    """The model with its limit hidden: published chunks are cut by it silently, as in the report."""

    def __init__(self, inner) -> None:
        self.inner = inner
        self.info = replace(inner.info, max_tokens=None)

    def tokens(self, text: str) -> Tokens:
        return replace(self.inner.tokens(text), limit=None)

    def embed(self, texts: Sequence[str]):
        return self.inner.embed(texts)

    def embed_query(self, text: str):
        return self.inner.embed_query(text)


def published(text: str) -> Iterator[Span]:
    """The report's recursive chunker, with true offsets: found with a cursor, not from the start of the text."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    length = _cl100k()
    splitter = RecursiveCharacterTextSplitter(
        separators=["\n\n", "\n", ".", "?", "!", " ", ""], chunk_size=200, chunk_overlap=0, length_function=length
    )
    at = 0
    for piece in splitter.split_text(text):
        at = text.index(piece, at)
        yield Span(at, at + len(piece))
        at += len(piece)


def _cl100k():
    static = Path(str(distribution("llama-index-core").locate_file("llama_index/core/_static/tiktoken_cache")))
    os.environ["TIKTOKEN_CACHE_DIR"] = str(static)
    import tiktoken

    encode = tiktoken.get_encoding("cl100k_base").encode
    return lambda text: len(encode(text, disallowed_special=()))


class Bench:
    """Questions, their references on one axis, and the index that answers."""

    def __init__(self, snapshot: Snapshot, embedder, questions, texts) -> None:
        self.library = Library(snapshot)
        self.embedder = embedder
        self.axis = Axis(texts)
        self.questions = questions
        self.texts = texts
        self.choices = [[self.axis.choices(ref) for ref in question.references] for question in questions]

    def offered(self, settings: SearchSettings, mix: Mix, only: Sequence[int] | None = None) -> dict:
        numbers = range(len(self.questions)) if only is None else only
        return {n: offers(self.library, self.embedder, self.questions[n].text, settings, None, mix) for n in numbers}

    def at(self, offered: dict, settings: SearchSettings, budget: int) -> np.ndarray:
        """Recall and IoU of each question, of what the product returns for a budget of `budget` characters."""
        rows = []
        for n, (texts, items) in offered.items():
            groups = select(texts, items, replace(settings, budget=budget))
            places = [Place(texts.document(g.document).source.path, g.span.start, g.span.end) for g in groups]
            got = fresh(self.axis.net(place) for place in places)
            result = score(got, chosen(self.choices[n], got))
            rows.append((result.recall, result.iou))
        return np.array(rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="no default chunks, no grid")
    quick = parser.parse_args().quick
    documents = {
        path.name: Document(Source(path.name, sha256=path.name, format="text"), text=path.read_bytes().decode())
        for path in sorted((DATA / "corpora").glob("*.md"))
    }
    questions = load_questions(DATA / "questions_df.csv", documents).questions
    texts = {name: document.text for name, document in documents.items()}
    embedder = load_embedder(Settings().embed, download=False)
    chunkers._plugins = lambda: {"published": "__main__:published"}  # as an installed plug-in would be found
    results: dict = {"questions": len(questions), "model": embedder.info.name, "engine": embedder.info.engine}
    with tempfile.TemporaryDirectory() as folder:
        for name, chunk, model in (
            ("published chunks", ChunkSettings(chunker="published"), Unlimited(embedder)),
            ("default chunks", ChunkSettings(), embedder),
        )[: 1 if quick else 2]:
            index = Path(folder) / name
            settings = Settings(chunk=chunk)
            cache = VectorCache()
            build_documents(documents.values(), index, settings, embedder=model, publish=False, cache=cache)
            with open_snapshot(index) as snapshot:
                bench = Bench(snapshot, model, questions, texts)
                results[name] = tables(bench, held_out=not quick)
                results[name]["chunks"] = snapshot.info.counts.chunks
                if chunk.chunker == "published":
                    results["five chunks"] = five_chunks(bench)
        results["own questions"] = own_questions(Path(folder) / "own", embedder)
    results["figures"] = figures(results)
    results["readme"] = readme(results)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def own_questions(index: Path, embedder) -> dict:
    """The same table on the sample documents in four languages, and their labelled questions."""
    build(
        [DATA_OF_OUR_OWN / "handbook"],
        index,
        replace(Settings(), store=StoreSettings(publish=False)),
        embedder=embedder,
    )
    with open_snapshot(index) as snapshot:
        documents = {row.path: snapshot.document(row.id) for row in snapshot.documents()}
        questions = load_questions(DATA_OF_OUR_OWN / "questions.jsonl", documents).questions
        texts = {name: document.text for name, document in documents.items()}
        found = tables(Bench(snapshot, embedder, questions, texts), held_out=False)
        return {"questions": len(questions), "chunks": snapshot.info.counts.chunks, **found}


def tables(bench: Bench, *, held_out: bool) -> dict:
    out: dict = {}
    scores = {}
    print(f"\n{bench.library.snapshot.info.counts.chunks} chunks; recall (%) at a budget of characters")
    print(f"{'':32}" + "".join(f"{budget:>7}" for budget in BUDGETS) + "  for 75 %   IoU there")
    for name, (settings, mix) in METHODS.items():
        offered = bench.offered(settings, mix)
        scores[name] = {budget: bench.at(offered, settings, budget) for budget in BUDGETS}
        need, iou = needed(bench, offered, settings)
        recall = {budget: float(scores[name][budget][:, 0].mean()) for budget in BUDGETS}
        out[name] = {"recall": recall, "characters for 75 %": need, "IoU at 75 %": iou}
        print(f"{name:32}" + "".join(f"{100 * recall[b]:7.1f}" for b in BUDGETS) + f"{need or 0:10.0f}{100 * iou:9.1f}")
    best, dense = scores["hybrid sentences (the default)"], scores["dense chunks"]
    out["difference to dense"] = {b: bootstrap(best[b][:, 0] - dense[b][:, 0]) for b in (1000, 3000)}
    out["default, 95 %"] = {b: bootstrap(best[b][:, 0]) for b in (1000, 3000)}
    print("default - dense, points (95 %):", {b: pretty(v) for b, v in out["difference to dense"].items()})
    print("default, % (95 %):", {b: pretty(v) for b, v in out["default, 95 %"].items()})
    out["by corpus"] = by_corpus(bench, best, dense)
    out["by copied words"] = by_copying(bench, best, dense)
    if held_out:
        out["held out"] = grid(bench)
    return out


def needed(bench: Bench, offered: dict, settings: SearchSettings, level: float = 0.75) -> tuple[float | None, float]:
    """The budget for a mean recall of `level`, between steps of 50, and the IoU at the step that reaches it."""
    low, high = 0, 160  # steps of 50
    seen: dict[int, np.ndarray] = {0: np.zeros(2)}

    def mean(step: int) -> np.ndarray:
        if step not in seen:
            seen[step] = bench.at(offered, settings, step * 50).mean(axis=0)
        return seen[step]

    if mean(high)[0] < level:
        return None, 0.0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if mean(middle)[0] >= level else (middle, high)
    part = (level - mean(low)[0]) / (mean(high)[0] - mean(low)[0])
    return 50 * (low + part), float(mean(high)[1])


def by_corpus(bench: Bench, best: dict, dense: dict) -> dict:
    corpora = np.array([question.references[0].places[0].path for question in bench.questions])
    out = {}
    for name in sorted(set(corpora)):
        mine = corpora == name
        out[name] = {b: [float(dense[b][mine, 0].mean()), float(best[b][mine, 0].mean())] for b in (1000, 3000)}
        row = "  ".join(f"{b}: {100 * x:.1f} -> {100 * y:.1f}" for b, (x, y) in out[name].items())
        print(f"  {name:24} dense -> default  {row}")
    return out


def by_copying(bench: Bench, best: dict, dense: dict) -> dict:
    """The control for copied words: quarters of the questions by the share of their words in their own reference."""
    shares = []
    for question in bench.questions:
        asked = set(question_terms(parse_question(question.text)))
        own = " ".join(
            bench.texts[place.path][place.start : place.end] for ref in question.references for place in ref.places[:1]
        )
        said = set(question_terms(parse_question(own.replace('"', " "))))
        shares.append(len(asked & said) / max(1, len(asked)))
    order = np.argsort(shares, kind="stable")
    out = {}
    for name, part in (
        ("least copied quarter", order[: len(order) // 4]),
        ("most copied quarter", order[-len(order) // 4 :]),
    ):
        out[name] = {b: [float(dense[b][part, 0].mean()), float(best[b][part, 0].mean())] for b in (1000, 3000)}
        row = "  ".join(f"{b}: {100 * x:.1f} -> {100 * y:.1f}" for b, (x, y) in out[name].items())
        print(f"  {name:24} dense -> default  {row}")
    return out


def grid(bench: Bench) -> dict:
    """Choose the weights on one half of the questions, score them on the other, and the reverse."""
    settings = SearchSettings()
    recall = []
    for mix in GRID:
        offered = bench.offered(settings, mix)
        recall.append([bench.at(offered, settings, budget)[:, 0] for budget in (1000, 3000)])
    scores = np.array(recall)  # mix, budget, question
    even = np.arange(scores.shape[2]) % 2 == 0
    out = {}
    for name, learn, test in (("chosen on even", even, ~even), ("chosen on odd", ~even, even)):
        best = int(scores[:, :, learn].mean(axis=(1, 2)).argmax())
        values = scores[best][:, test].mean(axis=1)
        out[name] = {"weights": str(GRID[best]), "recall": dict(zip((1000, 3000), values.tolist(), strict=True))}
        print(f"  {name}: {GRID[best]}: held out {100 * values[0]:.1f} at 1,000, {100 * values[1]:.1f} at 3,000")
    whole = scores.mean(axis=2)
    out["range over the grid"] = {
        b: [float(whole[:, i].min()), float(whole[:, i].max())] for i, b in enumerate((1000, 3000))
    }
    print("  over the whole grid:", {b: [round(100 * x, 1) for x in v] for b, v in out["range over the grid"].items()})
    return out


def five_chunks(bench: Bench) -> dict:
    """Recall of the five best chunks as published: every place counts as it stands, shared text each time."""
    out = {}
    for name, (settings, mix) in (
        ("dense", METHODS["dense chunks"]),
        ("the default ranking", METHODS["hybrid chunks"]),
    ):
        values = []
        for n, (texts, items) in bench.offered(settings, mix).items():
            spans = []
            for item in items[:5]:
                rows = [item.chunk.row, *texts.same_text(item.chunk)]  # `also`: the same text in its other places
                spans += [Place(texts.document(row.document).source.path, row.start, row.end) for row in rows]
            places = [bench.axis.plain(place) for place in spans]
            references = [bench.axis.plain(ref.places[0]) for ref in bench.questions[n].references]
            values.append(score(places, references, gross=True).recall)
        out[name] = bootstrap(np.array(values))
        print(f"recall at 5 chunks, published accounting, {name}: {pretty(out[name])}")
    return out


def bootstrap(values: np.ndarray) -> list[float]:
    """Mean and 95 % interval over resampled questions."""
    random = np.random.default_rng(0)
    means = values[random.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    return [float(values.mean()), *map(float, np.quantile(means, (0.025, 0.975)))]


def pretty(values: Sequence[float]) -> str:
    mean, low, high = (100 * value for value in values)
    return f"{mean:.1f} ({low:.1f} to {high:.1f})"


def figures(results: dict) -> list[dict]:
    """Each figure of the published chunks beside its goal."""
    table = results["published chunks"]
    best, rows = table["hybrid sentences (the default)"], []
    for name, part in table.get("held out", {}).items():
        if "recall" in part:
            for budget, goal in ((1000, 72), (3000, 89)):
                rows.append(at_least(f"recall at {budget:,}, weights {name} questions", part["recall"][budget], goal))
    need = best["characters for 75 %"]
    rows.append({"what": "characters for 75 %", "value": f"{need:.0f}", "goal": "<= 1250", "met": bool(need <= 1250)})
    rows.append(at_least("IoU there", best["IoU at 75 %"], 15))
    rows.append(
        at_least("recall of five chunks, published accounting", results["five chunks"]["the default ranking"][0], 88.1)
    )
    worst = min(ours - dense for corpus in table["by corpus"].values() for dense, ours in corpus.values())
    rows.append(at_least("above dense search, worst corpus", worst, 0))
    return rows


def at_least(what: str, share: float, percent: float) -> dict:
    return {
        "what": what,
        "value": f"{100 * share:.1f} %",
        "goal": f">= {percent:g} %",
        "met": bool(100 * share >= percent),
    }


def readme(results: dict) -> list[dict[str, str]]:
    table = results["published chunks"]
    best, dense = table["hybrid sentences (the default)"], table["dense chunks"]
    lines = [
        {
            "what": f"recall in {budget:,} characters returned (472 labelled questions)",
            "ours": f"{pretty(table['default, 95 %'][budget])} %",
            "others": f"dense search, overlaps merged: {100 * dense['recall'][budget]:.1f} %",
        }
        for budget in (1000, 3000)
    ]
    own = results["own questions"]
    lines.append(
        {
            "what": f"the same in 1,000 characters, our own {own['questions']} questions in four languages",
            "ours": f"{pretty(own['default, 95 %'][1000])} %",
            "others": f"dense search: {100 * own['dense chunks']['recall'][1000]:.1f} %",
        }
    )
    need, other = best["characters for 75 %"], dense["characters for 75 %"]
    lines.append(
        {"what": "characters to read for 75 % recall", "ours": f"{need:,.0f}", "others": f"dense search: {other:,.0f}"}
    )
    five = results["five chunks"]["the default ranking"]
    lines.append(
        {
            "what": "recall of the 5 best chunks (published accounting)",
            "ours": f"{pretty(five)} %",
            "others": "text-embedding-3-large, dense: 88.1 % (published)",
        }
    )
    return lines


if __name__ == "__main__":
    sys.exit(main())
