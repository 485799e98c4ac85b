"""Chunking against its rivals: speed, quality at that speed, growth, sentences, whole answers, token counting.

    python benchmarks/chunking/run.py [--corpus FOLDER] [--big MB] [--quick]

FOLDER holds en.txt, fr.txt, pt.txt and ja.txt, the Debian Reference as text (the packages debian-reference-en and so
on hold it); without it the texts are made up of the labelled sentences of the tests. All ratios are of CPU times
within this run. Writes results.json beside this file, or results-debian-reference.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tracemalloc
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import corpus
import rivals
from measures import f1, quality, seconds, table

from rag_index.chunk import chunk
from rag_index.chunk.sentences import Sentences, _tokenizer

HERE = Path(__file__).resolve().parent
PACKAGES = ("langchain-text-splitters", "chonkie", "semchunk", "semantic-text-splitter", "nltk", "pysbd")
LENGTH = {"en": 1_000_000, "fr": 1_000_000, "pt": 1_000_000, "ja": 700_000}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--big", type=int, default=50, help="megabytes of the big text")
    parser.add_argument("--quick", action="store_true", help="no slow rivals, no big text, no model")
    options = parser.parse_args()
    results: dict[str, Any] = {
        "versions": {name: version(name) for name in PACKAGES},
        "load": os.getloadavg()[0],
        "corpus": "Debian Reference 2.100, four languages" if options.corpus else "made up of the tests' sentences",
    }
    results["speed"] = speeds(options)
    if not options.quick:
        results["big"] = big(options)
    results["growth"] = growth()
    results["first_chunk"] = first_chunk(options)
    results["sentences"] = sentence_speeds(options)
    results["borders"] = borders()
    results["answers"] = answers() if corpus.SHARED.exists() else {}
    if not options.quick:
        results["tokens"] = token_cost(options)
    results["figures"] = figures(results)
    results["readme"] = readme(results, real=bool(options.corpus))
    path = HERE / ("results-debian-reference.json" if options.corpus else "results.json")
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def speeds(options: argparse.Namespace) -> dict[str, Any]:
    """1000/200 characters, one text of some megabyte a language: MB/s, and what came out."""
    cutters = {
        "character": (rivals.ours("character"), 7),
        "window": (rivals.ours("window"), 5),
        "langchain": (rivals.langchain(), 3),
        "chonkie fast": (rivals.chonkie_fast(), 5),
    }
    if not options.quick:
        cutters["semchunk"] = (rivals.semchunk_(), 1)
        cutters["semantic-text-splitter"] = (rivals.semantic_text_splitter_(), 1)
    found: dict[str, Any] = {}
    for language in corpus.LANGUAGES:
        text = corpus.text_of(language, LENGTH[language], options.corpus)
        size = len(text.encode()) / 1e6
        for name, (cut, repeats) in cutters.items():
            try:
                spans = cut(text)
            except UnicodeDecodeError as error:
                found.setdefault(name, {})[language] = {"error": type(error).__name__}
                continue
            rate = size / seconds(lambda cut=cut, text=text: cut(text), repeats)
            found.setdefault(name, {})[language] = {"mb_s": round(rate, 1), **quality(text, spans, rivals.SIZE)}
    rate = lambda name, language: found[name][language].get("mb_s", found[name][language].get("error"))  # noqa: E731
    print(table(["MB/s", *corpus.LANGUAGES], [[name, *(rate(name, at) for at in corpus.LANGUAGES)] for name in found]))
    keys = ["chunks", "mean", "ends_well", "words_cut", "overlap", "lost", "too_long"]
    rows = [
        [language, name, *(found[name][language].get(key, "-") for key in keys)]
        for language in corpus.LANGUAGES
        for name in found
    ]
    print("\n" + table(["language", "chunker", *keys], rows) + "\n", flush=True)
    return found


def big(options: argparse.Namespace) -> dict[str, Any]:
    """Repeat the measurement on texts of many megabytes: MB/s by language."""
    cutters = {
        "character": rivals.ours("character"),
        "langchain": rivals.langchain(),
        "chonkie fast": rivals.chonkie_fast(),
    }
    found: dict[str, Any] = {name: {} for name in cutters}
    for language in corpus.LANGUAGES:
        text = corpus.text_of(language, options.big * 1_000_000, options.corpus)
        size = len(text.encode()) / 1e6
        for name, cut in cutters.items():
            try:
                found[name][language] = round(size / seconds(lambda cut=cut, text=text: cut(text), 2), 1)
            except UnicodeDecodeError as error:
                found[name][language] = type(error).__name__
    rows = [[name, *row.values()] for name, row in found.items()]
    print(table([f"{options.big} M characters, MB/s", *corpus.LANGUAGES], rows) + "\n", flush=True)
    return found


def growth() -> dict[str, Any]:
    """Time for 5 and for 10 million code points of hostile texts."""
    texts = {
        "words": lambda n: "word and another word. \n" * (n // 24),
        "one line of words": lambda n: "word and another " * (n // 17),
        "no space": lambda n: "x" * n,
        "CJK": lambda n: "雨が降った。電車は来ない、" * (n // 13),
        "newlines": lambda n: "\n" * n,
        "marks": lambda n: "e" + "\u0301" * n,
    }
    found: dict[str, Any] = {}
    for name, make in texts.items():
        half, whole = (make(n) for n in (5_000_000, 10_000_000))
        one, two = (seconds(lambda text=text: rivals.ours("character")(text), 2) for text in (half, whole))
        found[name] = {"5M": round(one, 3), "10M": round(two, 3), "ratio": round(two / one, 2)}
    print(table(["growth", "5 M, s", "10 M, s", "ratio"], [[name, *row.values()] for name, row in found.items()]))
    print(flush=True)
    return found


def first_chunk(options: argparse.Namespace) -> dict[str, Any]:
    """Time to the first chunk of the big text, and what iterating over 10 MB adds in memory."""
    text = corpus.text_of("en", options.big * 1_000_000, options.corpus)
    found: dict[str, Any] = {}
    for name in ("character", "window", "sentence"):
        list(islice(chunk(text[:2_000_000], name), 500))  # imports, and the tables of the languages in it
        began = time.process_time()
        next(chunk(text, name))
        found[name] = {"ms": round(1000 * (time.process_time() - began), 2)}
        short = text[:2_000_000]
        tracemalloc.start()
        for _ in islice(chunk(short, name), 500 if name == "sentence" else None):
            pass
        found[name]["extra_kb"] = tracemalloc.get_traced_memory()[1] // 1000
        tracemalloc.stop()
    print(f"first chunk of {options.big} MB, and extra memory: {found}\n", flush=True)
    return found


def sentence_speeds(options: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for language in corpus.LANGUAGES:
        text = corpus.text_of(language, 300_000, options.corpus)
        size = len(text.encode()) / 1e6
        rival = rivals.langchain_nltk(language if language != "ja" else "en")
        cut = rivals.ours("sentence")
        cut(text[:5000])
        found[language] = {
            "ours": round(size / seconds(lambda cut=cut, text=text: cut(text), 3), 1),
            "langchain nltk": round(size / seconds(lambda cut=rival, text=text: cut(text), 2), 1),
            "ours too long": quality(text, cut(text), rivals.SIZE)["too_long"],
            "theirs too long": quality(text, rival(text), rivals.SIZE)["too_long"],
        }
    rows = [[language, *row.values()] for language, row in found.items()]
    print(table(["sentences, MB/s", "ours", "LangChain NLTK", "too long, ours", "theirs"], rows) + "\n", flush=True)
    return found


def borders() -> dict[str, Any]:
    """F1 of sentence borders on the labelled set."""
    import pysbd

    found: dict[str, Any] = {}
    for language in corpus.LANGUAGES:
        text, gold = corpus.labelled(language)
        trimmed = lambda ends, text=text: [len(text[:end].rstrip()) for end in ends]  # noqa: E731
        plain = _plain_punkt(language if language != "ja" else "en")
        other = pysbd.Segmenter(language="es" if language == "pt" else language, clean=False, char_span=True)
        found[language] = {
            "sentences": len(gold),
            "ours": round(f1(gold, trimmed([end for end, _ in Sentences(text).ends()] + [len(text)])), 3),
            "nltk": round(f1(gold, trimmed(end for _, end in plain.span_tokenize(text))), 3),
            "pysbd": round(f1(gold, trimmed(span.end for span in other.segment(text))), 3),
        }
    rows = [[language, *row.values()] for language, row in found.items()]
    print(table(["F1 of borders", "sentences", "ours", "NLTK alone", "pysbd"], rows) + "\n", flush=True)
    return found


def _plain_punkt(language: str) -> Any:
    """Return NLTK's tokenizer without our abbreviations."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    from rag_index.chunk.abbreviations import EXTRA

    parameters = _tokenizer.__wrapped__(language)._params
    parameters.abbrev_types = parameters.abbrev_types - EXTRA.get(language, frozenset())
    return PunktSentenceTokenizer(parameters)


def answers() -> dict[str, Any]:
    """Share of labelled answers that lie whole in one chunk."""
    found: dict[str, Any] = {}
    for language in corpus.QUESTIONS:
        for size, overlap in ((200, 40), (400, 80), (1000, 200)):
            cutters = {
                "character": rivals.ours("character", size, overlap),
                "sentence": rivals.ours("sentence", size, overlap),
                "langchain": rivals.langchain(size, overlap),
            }
            row: dict[str, Any] = {"wrong places": 0}
            whole = dict.fromkeys(cutters, 0)
            total = 0
            for text, labels in corpus.articles(language):
                row["wrong places"] += sum(not text.startswith(answer, at) for at, answer in labels)
                total += len(labels)
                for name, cut in cutters.items():
                    spans = cut(text)
                    whole[name] += sum(any(s <= at and at + len(a) <= e for s, e in spans) for at, a in labels)
            row |= {name: round(100 * count / total, 2) for name, count in whole.items()}
            found[f"{language} {size}/{overlap}"] = row
    rows = [[name, *row.values()] for name, row in found.items()]
    print(table(["whole answers, %", "wrong places", "character", "sentence", "LangChain"], rows) + "\n", flush=True)
    return found


def token_cost(options: argparse.Namespace) -> dict[str, Any]:
    """What finding the tokens of a text costs beside embedding its chunks."""
    from rag_index.embed import load_embedder
    from rag_index.embed.batching import embed_all
    from rag_index.settings import EmbedSettings

    embedder = load_embedder(EmbedSettings())
    text = corpus.text_of("en", 100_000, options.corpus)
    texts = [item.text for item in chunk(text, tokens=embedder.tokens(text))]
    list(embed_all(embedder, texts[:8]))
    counting = seconds(lambda: embedder.tokens(text), 3)
    embedding = seconds(lambda: list(embed_all(embedder, texts)), 1)
    found = {
        "tokens_s": round(counting, 3),
        "embedding_s": round(embedding, 3),
        "share": round(counting / embedding, 4),
    }
    print(f"tokens of 100,000 characters beside their embedding (CPU s): {found}\n", flush=True)
    return found


def figures(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Each figure beside its goal; the least or the greatest of the languages counts."""
    ours = results["speed"]["character"]
    rows = [
        at_least(f"character, speed of {name}", least_ratio(results, name), goal, "x")
        for name, goal in (("langchain", 4), ("chonkie fast", 1), ("semchunk", 10), ("semantic-text-splitter", 15))
        if name in results["speed"]
    ]
    if big := results.get("big"):
        for name, goal in (("langchain", 4), ("chonkie fast", 1)):
            ratio = min(big["character"][at] / rate for at, rate in big[name].items() if not isinstance(rate, str))
            rows.append(at_least(f"... and of {name} on the big text", ratio, goal, "x"))
    theirs = results["speed"]["langchain"]
    apart = max(100 * abs(ours[at]["chunks"] / theirs[at]["chunks"] - 1) for at in ours)
    rows.append(at_most("chunks, apart from langchain's number", apart, 3, " %"))
    for what, key, slack in (("chunks that end well", "ends_well", -0.5), ("mean overlap", "overlap", 0)):
        rows.append(at_least(f"{what}, above langchain's", min(ours[at][key] - theirs[at][key] for at in ours), slack))
    words = max(ours[at]["words_cut"] - theirs[at]["words_cut"] for at in ours)
    rows.append(at_most("words cut, above langchain's", words, 0))
    wrong = sum(row[key] for row in ours.values() for key in ("lost", "too_long"))
    rows.append(at_most("characters lost, chunks too long", wrong, 0))
    growth = results["growth"].values()
    rows.append(at_most("time for twice the text, worst", max(row["ratio"] for row in growth), 2.5, "x"))
    rows.append(at_most("ten million characters, worst", max(row["10M"] for row in growth), 1, " s"))
    rows.append(
        at_most("first chunk of the big text", max(x["ms"] for x in results["first_chunk"].values()), 20, " ms")
    )
    rows.append(at_most("memory added", max(x["extra_kb"] for x in results["first_chunk"].values()), 1000, " kB"))
    rows.append(at_least("sentence, speed of langchain's NLTK splitter", least_sentence_ratio(results), 2, "x"))
    rows.append(at_least("F1 of sentence borders", min(row["ours"] for row in results["borders"].values()), 0.95))
    if answers := results["answers"].values():
        worst = min(row["character"] - row["langchain"] for row in answers)
        rows.append(at_least("whole answers in a chunk, above langchain's", worst, 0.0, " points"))
        rows.append(at_most("answers not at their places", sum(row["wrong places"] for row in answers), 0))
    if "tokens" in results:
        rows.append(at_most("counting tokens, part of embedding", 100 * results["tokens"]["share"], 10, " %"))
    return rows


def at_least(what: str, value: float, goal: float, unit: str = "") -> dict[str, Any]:
    """Return a row of the table."""
    return {"what": what, "value": f"{value:.3g}{unit}", "goal": f">= {goal:g}{unit}", "met": value >= goal}


def at_most(what: str, value: float, goal: float, unit: str = "") -> dict[str, Any]:
    """Return a row of the table."""
    return {"what": what, "value": f"{value:.3g}{unit}", "goal": f"<= {goal:g}{unit}", "met": value <= goal}


def least_ratio(results: dict[str, Any], rival: str) -> float:
    ours, theirs = results["speed"]["character"], results["speed"][rival]
    return min(ours[at]["mb_s"] / theirs[at]["mb_s"] for at in ours if "mb_s" in theirs[at])


def least_sentence_ratio(results: dict[str, Any]) -> float:
    return min(row["ours"] / row["langchain nltk"] for row in results["sentences"].values())


def readme(results: dict[str, Any], *, real: bool) -> list[dict[str, str]]:
    """The rows of the README's table."""
    speed, languages = results["speed"], corpus.LANGUAGES
    rates = {
        name: ", ".join(f"{speed[name][at]['mb_s']:.0f}" for at in languages) for name in ("character", "langchain")
    }
    where = "the Debian Reference" if real else "texts made of the tests' sentences"
    rows = [
        {
            "what": f"chunking, `character` 1000/200 on {where}, MB/s (en, fr, pt, ja)",
            "ours": f"{rates['character']} (at least {least_ratio(results, 'langchain'):.1f}x)",
            "others": f"LangChain {rates['langchain']}",
        },
    ]
    if real:
        return [*rows, quality_row(speed)]
    f1s = {
        who: ", ".join(f"{row[who]:.2f}" for row in results["borders"].values()) for who in ("ours", "nltk", "pysbd")
    }
    return [
        *rows,
        {
            "what": "chunking by sentences, least ratio",
            "ours": f"{least_sentence_ratio(results):.1f}x",
            "others": "LangChain NLTK 1",
        },
        {
            "what": "F1 of sentence borders, our own labelled set (en, fr, pt, ja)",
            "ours": f1s["ours"],
            "others": f"NLTK {f1s['nltk']}; pysbd {f1s['pysbd']}",
        },
    ]


def quality_row(speed: dict[str, Any]) -> dict[str, str]:
    """What came out at that speed: means over the languages, and the worst that happened in any."""

    def told(name: str) -> str:
        rows = [speed[name][at] for at in corpus.LANGUAGES]
        mean = {key: sum(row[key] for row in rows) / len(rows) for key in ("chunks", "overlap", "ends_well")}
        bad = sum(row[key] for row in rows for key in ("words_cut", "lost", "too_long"))
        return (
            f"{mean['chunks']:,.0f} chunks, {mean['overlap']:.0f} characters shared, "
            f"{mean['ends_well']:.1f} % end with a line or sentence, {bad} faults"
        )

    return {
        "what": "the same: chunks a text, overlap of neighbours, ends; words cut, characters lost, chunks too long",
        "ours": told("character"),
        "others": f"LangChain {told('langchain')}",
    }


if __name__ == "__main__":
    raise SystemExit(main())
