"""The shape of our code: short functions, flat, in modules of one job."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "rag_index"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES, MOST_FUNCTION_LINES, MOST_COMMAND_LINES, MOST_NESTING = 400, 50, 25, 3
NESTS = (ast.If, ast.For, ast.While, ast.With, ast.Try)
NOT_NAMES = {"utils", "helpers", "common", "base", "core", "manager"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def lines(function: Function) -> int:
    """Return how many lines a function has, its docstring left out."""
    whole = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        whole -= (first.end_lineno or 0) - first.lineno + 1
    return whole


def nesting(node: ast.AST, depth: int = 0) -> int:
    """Return how deep blocks lie in each other; an `elif` is no deeper than its `if`."""
    deepest = depth
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
                continue
            chained = name == "orelse" and isinstance(node, ast.If) and isinstance(child, ast.If)
            inner = depth + 1 if isinstance(child, NESTS) and not chained else depth
            deepest = max(deepest, nesting(child, inner))
    return deepest


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_modules_are_short_and_functions_short_and_flat(module) -> None:
    text = module.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert module.stem not in NOT_NAMES
    assert len(text.splitlines()) <= MOST_LINES
    assert {each.name: lines(each) for each in functions(tree) if lines(each) > MOST_FUNCTION_LINES} == {}
    assert {each.name: nesting(each) for each in functions(tree) if nesting(each) > MOST_NESTING} == {}


def test_commands_have_at_most_twenty_five_lines() -> None:
    modules = (PACKAGE / "cli").glob("*.py")
    found = [each for module in modules for each in functions(ast.parse(module.read_text(encoding="utf-8")))]
    bodies = {each.name: lines(each) - (each.body[0].lineno - each.lineno) for each in found if is_command(each)}
    assert {"build", "query", "chunk"} <= bodies.keys()
    assert {name: count for name, count in bodies.items() if count > MOST_COMMAND_LINES} == {}


def is_command(function: Function) -> bool:
    marks = [mark.func for mark in function.decorator_list if isinstance(mark, ast.Call)]
    return any(isinstance(mark, ast.Name) and mark.id == "command" for mark in marks)
