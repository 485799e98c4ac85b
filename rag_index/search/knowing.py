"""How far a model knows the language of a question."""

from __future__ import annotations

from rag_index.chunk import detect_language
from rag_index.types import Embedder

FOREIGN = 0.2
"""Trust in a model that wasn't made for the question's language."""


def knowledge(model: Embedder, question: str) -> float:
    """Return how much the cosine may be trusted for `question`, 0 to 1.

    A model that says what it was made for is taken at its word; where the language isn't recognised, or the model
    doesn't say, the tokens that it doesn't know and the pieces that it breaks the words into tell.
    """
    language = detect_language(question)
    if language and model.info.languages:
        return 1.0 if language in model.info.languages else FOREIGN
    tokens = model.tokens(question)
    count = len(tokens.starts)
    if not count:
        return 0.0
    known = 1 - len(tokens.unknown) / count
    return known if count else 0.0
