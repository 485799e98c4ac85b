"""Chunks that may answer a question, from meaning and from words, on one scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_index.chunk import detect_language
from rag_index.search.knowing import knowledge
from rag_index.search.words import Weights
from rag_index.settings import SearchSettings
from rag_index.store import ChunkRow, Snapshot
from rag_index.store.keywords import (
    Wanted,
    expression_of,
    find_words,
    holds,
    is_unspaced,
    lesser_terms,
    parse_question,
    question_terms,
)
from rag_index.types import Embedder, Filter

if TYPE_CHECKING:
    from rag_index.types import Vector


@dataclass(frozen=True, slots=True)
class Mix:
    """What the parts of a score weigh.

    Found by trials on the questions of benchmarks/retrieval, which also chooses them from a grid on the even questions
    and scores them on the odd ones, and the reverse: with the published chunks both halves choose these.

    Attributes:
        keywords: The words, where the model knows the question's language; the rest is the cosine's.
        neighbours: Each of the chunks before and after: among good ones a chunk is more likely the right one (+3 points
            of recall at 1,000 characters).
        sentence: The words in the sentence, beside its chunk (1).
        before: The words in the sentence before: it often names what this one speaks of.
        best: The words in the best sentence of a chunk, where whole chunks are asked for.
    """

    keywords: float = 0.6
    neighbours: float = 0.2
    sentence: float = 0.5
    before: float = 0.1
    best: float = 0.3


MIX = Mix()
PAIRS = 0.5
"""What the pairs of characters in a sentence weigh beside words there, for chance makes more of them; those in the
sentence before weigh nothing. Hit@1 on XQuAD zh is .924 with this, .919 with the full weight and .924 with a fifth,
which puts wrong sentences of a short text first."""
POOL = 100
"""Chunks taken from each side. Twice as many change no figure of the benchmark."""
COMMON = 5000
"""Texts from which on a term is too common to be searched for where a rarer one is there: scoring them all would cost
more time than the rest of the search, and such a term hardly ranks."""


@dataclass(slots=True)
class Candidate:
    """A chunk with its parts of the score, each from 0 to 1.

    Attributes:
        row: The chunk.
        dense: Cosine of question and chunk; negative ones count as 0.
        keyword: BM25 as a share of the most that the question could reach.
        score: Both, weighed.
        nearby: Sum of the scores of the chunk before and the chunk after, where they are candidates.
        merit: Score with the neighbours', from 0 to 1.
    """

    row: ChunkRow
    dense: float
    keyword: float
    score: float
    nearby: float = 0.0
    merit: float = 0.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the search works with it.

    Attributes:
        wanted: Its words, phrases and exclusions.
        weights: Its terms, weighed.
        vector: Its embedding; None in keyword mode.
        words: Weight of the keywords against the cosine, 0 to 1.
        mix: What the parts of a score weigh.
    """

    wanted: Wanted
    weights: Weights
    vector: Vector | None
    words: float
    mix: Mix = MIX


def ask(
    snapshot: Snapshot,
    embedder: Embedder | Callable[[], Embedder] | None,
    question: str,
    settings: SearchSettings,
    mix: Mix = MIX,
) -> Asked:
    """Read a question; embeds it unless the mode is ``keyword``."""
    wanted = parse_question(question)
    terms = question_terms(wanted)
    lesser = lesser_terms(wanted, english=detect_language(wanted.text) in {"", "en"})
    weights = Weights.of(terms, snapshot.frequencies(terms), snapshot.info.counts.texts, lesser)
    if 2 * sum(is_unspaced(term[0]) for term in terms) > len(terms):
        mix = replace(mix, sentence=PAIRS * mix.sentence, before=0.0)
    if settings.mode == "keyword" or embedder is None:
        return Asked(wanted, weights, None, 1.0, mix)
    model = embedder() if callable(embedder) else embedder
    vector = model.embed_query(wanted.text)
    if settings.mode == "dense":
        return Asked(wanted, weights, vector, 0.0, mix)
    known = knowledge(model, wanted.text) if weights.idf else 1.0
    return Asked(wanted, weights, vector, 1 - (1 - mix.keywords) * known if weights.idf else 0.0, mix)


def rank(
    snapshot: Snapshot, asked: Asked, settings: SearchSettings, where: Filter | None = None, pool: int = POOL
) -> list[Candidate]:
    """Return the chunks that may answer, best first; equal ones by path and place. Each text is there once."""
    dense: dict[int, float] = {}
    keyword: dict[int, float] = {}
    if asked.vector is not None:
        dense = dict(snapshot.dense(asked.vector, pool, where, settings.retriever))
    if asked.words > 0:
        keyword = dict(snapshot.keyword(expression(asked), pool, where))
    rows = snapshot.chunks([*dict.fromkeys((*dense, *keyword))])
    ids = [id_ for id_ in rows if _allowed(snapshot, rows[id_], asked.wanted)]
    if asked.vector is not None:
        unseen = [id_ for id_ in ids if id_ not in dense]
        dense |= dict(zip(unseen, snapshot.cosines(unseen, asked.vector), strict=True)) if unseen else {}
    found = [_candidate(asked, rows[id_], dense.get(id_, 0.0), keyword.get(id_, 0.0)) for id_ in ids]
    _look_around(found, asked.mix.neighbours)
    paths = snapshot.paths({each.row.document for each in found})
    return sorted(found, key=lambda c: (-round(c.merit, 6), paths[c.row.document], c.row.start))


def expression(asked: Asked) -> str:
    """Return the FTS5 expression, without terms that repeat others or that most texts hold, where more is left."""
    common = asked.weights.common(COMMON)
    return expression_of(asked.wanted, common | asked.weights.lesser) or expression_of(asked.wanted, common)


def _candidate(asked: Asked, row: ChunkRow, dense: float, bm25: float) -> Candidate:
    cosine = min(1.0, max(0.0, dense))
    keyword = asked.weights.share(bm25)
    return Candidate(row, cosine, keyword, (1 - asked.words) * cosine + asked.words * keyword)


def _look_around(found: list[Candidate], weight: float) -> None:
    """Tell each candidate how good its neighbours are."""
    score = {(each.row.document, each.row.index): each.score for each in found}
    for each in found:
        document, index = each.row.document, each.row.index
        each.nearby = score.get((document, index - 1), 0.0) + score.get((document, index + 1), 0.0)
        each.merit = (each.score + weight * each.nearby) / (1 + 2 * weight)


def _allowed(snapshot: Snapshot, row: ChunkRow, wanted: Wanted) -> bool:
    """Tell whether a chunk holds every quoted phrase and nothing that was excluded."""
    if not wanted.phrases and not wanted.excluded:
        return True
    text = snapshot.document(row.document).text[row.start : row.end]
    terms = [term for word in find_words(text) for term in word.terms]
    return all(holds(terms, phrase) for phrase in wanted.phrases) and not any(
        holds(terms, phrase) for phrase in wanted.excluded
    )
