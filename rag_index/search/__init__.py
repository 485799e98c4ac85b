"""Answer questions from an index: passages with their place, their marks and their score."""

from rag_index.search.query import read_question, search, search_each

__all__ = ["read_question", "search", "search_each"]
