"""build(): the chain of stages; the only part that sees them all."""

from rag_index.pipeline.building import build, build_documents
from rag_index.pipeline.report import BuildReport

__all__ = ["BuildReport", "build", "build_documents"]
