"""build(): the chain of stages; the only part that sees them all."""

from rag_index.pipeline.building import build, build_documents
from rag_index.pipeline.checking import CheckReport, check
from rag_index.pipeline.report import BuildReport
from rag_index.pipeline.watching import watch

__all__ = ["BuildReport", "CheckReport", "build", "build_documents", "check", "watch"]
