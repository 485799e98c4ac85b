"""Answer questions from an index: passages with their place, their marks and their score."""

from rag_index.search.formats import FORMATS, check_format, formatted
from rag_index.search.freshness import freshen
from rag_index.search.library import Library
from rag_index.search.page import as_page, document_page
from rag_index.search.query import Answer, answers_each, read_question, search
from rag_index.search.why import Reason, why

__all__ = [
    "FORMATS",
    "Answer",
    "Library",
    "Reason",
    "answers_each",
    "as_page",
    "check_format",
    "document_page",
    "formatted",
    "freshen",
    "read_question",
    "search",
    "why",
]
