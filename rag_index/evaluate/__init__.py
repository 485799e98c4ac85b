"""Measure what size, overlap, chunker and search mode buy on labelled questions."""

from rag_index.evaluate.formats import load_questions
from rag_index.evaluate.grid import Cell, Grid
from rag_index.evaluate.labels import Labels, Question, Reference
from rag_index.evaluate.run import Run, load_run
from rag_index.evaluate.scoring import Measure
from rag_index.evaluate.sweep import sweep
from rag_index.evaluate.verdict import Verdict, judge

__all__ = [
    "Cell",
    "Grid",
    "Labels",
    "Measure",
    "Question",
    "Reference",
    "Run",
    "Verdict",
    "judge",
    "load_questions",
    "load_run",
    "sweep",
]
