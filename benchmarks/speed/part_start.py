"""Start-up: help of the program and of one command, in units of an empty Python."""

from __future__ import annotations

from children import PYTHON, RAG_INDEX, figure, median, run

ROUNDS = 15


def measure() -> dict:
    commands = {
        "python": [PYTHON, "-c", "pass"],
        "help": [*RAG_INDEX, "--help"],
        "query_help": [*RAG_INDEX, "query", "--help"],
    }
    runs: dict[str, list] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            runs[name].append(run(command))
    taken = {name: median(values) for name, values in runs.items()}
    bare = taken["python"].cpu_s
    return {
        "runs": {name: value.figures() for name, value in taken.items()},
        "figures": [
            figure("--help, CPU of bare Python", taken["help"].cpu_s / bare, "<= 8", "x"),
            figure("query --help, CPU of bare Python", taken["query_help"].cpu_s / bare, "<= 15", "x"),
        ],
    }
