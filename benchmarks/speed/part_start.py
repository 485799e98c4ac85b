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
    for number in range(ROUNDS + 1):
        for name, command in commands.items():
            taken = run(command)
            if number:  # the first round compiles
                runs[name].append(taken)
    medians = {name: median(values) for name, values in runs.items()}
    bare = medians["python"].cpu_s
    return {
        "runs": {name: value.figures() for name, value in medians.items()},
        "figures": [
            figure("--help, CPU of bare Python", medians["help"].cpu_s / bare, "<= 8", "x"),
            figure("query --help, CPU of bare Python", medians["query_help"].cpu_s / bare, "<= 15", "x"),
        ],
    }
