"""Measure what size, overlap, chunker and search mode buy on labelled questions."""

from rag_index.evaluate.formats import load_questions
from rag_index.evaluate.labels import Labels, Question, Reference

__all__ = ["Labels", "Question", "Reference", "load_questions"]
