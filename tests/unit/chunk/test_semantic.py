from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rag_index.chunk import chunk
from rag_index.chunk.semantic import BATCH, Rifts
from rag_index.chunk.sentences import Sentences
from rag_index.errors import UsageError

CATS = ["The cat sleeps all day.", "A cat purrs when it is warm.", "Most cats dislike water.", "Our cat eats fish."]
BANKS = ["The bank raised its rates.", "A bank lends money.", "Most banks close at noon.", "Our bank has moved."]


def subjects(texts):
    """Embed by subject: one axis for cats, one for banks."""
    rows = [[1.0, 0.1] if "cat" in text.lower() else [0.1, 1.0] for text in texts]
    return np.array(rows, dtype=np.float32)


def test_chunks_end_where_the_subject_changes():
    text = " ".join(CATS + BANKS + CATS)
    parts = [item.text for item in chunk(text, "semantic", 300, 0, embed=subjects)]
    assert parts == [" ".join(CATS), " ".join(BANKS), " ".join(CATS)]


def test_a_subject_longer_than_the_size_is_cut_between_sentences():
    parts = [item.text for item in chunk(" ".join(CATS * 4), "semantic", 60, 0, embed=subjects)]
    assert all(len(part) <= 60 and part.endswith(".") for part in parts)


def test_small_pieces_stay_together_below_the_least_size():
    text = " ".join([CATS[0], BANKS[0], CATS[1], BANKS[1]] * 3)
    parts = [item.text for item in chunk(text, "semantic", 200, 0, embed=subjects)]
    assert all(len(part) > 50 for part in parts[:-1])


def test_the_overlap_is_whole_sentences():
    text = " ".join(CATS + BANKS)
    first, second = chunk(text, "semantic", 300, 30, embed=subjects)
    assert second.start < first.end
    assert second.text.startswith(CATS[-1])


def test_every_sentence_is_embedded_once_in_batches_and_only_as_far_as_needed():
    seen: list[list[str]] = []

    def embed(texts):
        seen.append(list(texts))
        return subjects(texts)

    text = " ".join((CATS * 8 + BANKS * 8) * 30)
    chunks = chunk(text, "semantic", 400, 0, embed=embed)
    next(chunks)
    assert len(seen) == 1
    rest = list(chunks)
    assert max(map(len, seen)) == BATCH
    assert sum(map(len, seen)) == 64 * 30 // 4 * 4
    assert rest[-1].end == len(text)
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(rest))


def test_rifts_do_not_depend_on_how_far_was_asked_at_a_time():
    text = " ".join((CATS * 5 + BANKS * 7) * 20)
    near, far = (Rifts(Sentences(text, "en"), subjects, 2, 90) for _ in range(2))
    for at in range(0, len(text), 50):
        near.after(at, at + 10)
    far.after(0, len(text))
    assert near.places == far.places
    assert len(far.places) >= 30


def test_a_text_of_one_subject_has_no_rifts():
    rifts = Rifts(Sentences(" ".join(CATS), "en"), subjects, 1, 50)
    assert rifts.after(0, 1000) == -1
    assert rifts.places == []


def test_vectors_of_zero_make_no_rifts():
    assert len(list(chunk(" ".join(CATS), "semantic", 500, 0, embed=lambda texts: np.zeros((len(texts), 2))))) == 1


def test_semantic_without_a_model_is_an_error_at_once():
    with pytest.raises(UsageError, match="needs a model"):
        chunk("One. Two.", "semantic")


def test_an_empty_text_has_no_chunks():
    assert list(chunk("", "semantic", embed=subjects)) == []
