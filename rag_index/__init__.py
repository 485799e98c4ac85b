"""Turn documents into a vector index and answer questions with the exact source passage."""

__version__ = "0.1.0"
