"""Run the benchmarks, print each figure beside its goal, and write the README's table from what they found.

    python benchmarks/run.py               all
    python benchmarks/run.py speed         one folder
    python benchmarks/run.py --print       run nothing; print what the JSON files hold

A benchmark is a folder with a ``run.py`` that writes ``results.json`` (or more, ``results-NAME.json``) beside it. Of
these, this script reads two keys: ``figures``, a list of ``{"what", "value", "goal", "met"}``, and ``readme`` (see
docs/generate.py).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run what was asked for; the exit code is 1 when a benchmark failed (not when a goal was missed)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="folders (default: all)")
    parser.add_argument("--print", action="store_true", help="run nothing, only print")
    given = parser.parse_args()
    known = sorted(path.parent for path in HERE.glob("*/run.py"))
    chosen = [folder for folder in known if not given.names or folder.name in given.names]
    if unknown := set(given.names) - {folder.name for folder in known}:
        parser.error(f"no benchmark {min(unknown)!r}; there are {', '.join(folder.name for folder in known)}")
    failed = [] if given.print else [folder.name for folder in chosen if not run(folder)]
    for folder in chosen:
        show(folder)
    if not given.print:
        subprocess.run([sys.executable, HERE.parent / "docs" / "generate.py"], check=False)
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    return 1 if failed else 0


def run(folder: Path) -> bool:
    """Run one benchmark in a process of its own."""
    print(f"== {folder.name}", flush=True)
    return subprocess.run([sys.executable, folder / "run.py"], check=False).returncode == 0


def show(folder: Path) -> None:
    """Print the figures of one benchmark as a table for each of its JSON files, goals missed marked."""
    paths = sorted(folder.glob("results*.json"))
    if not paths:
        print(f"\n{folder.name}: no results yet")
    for path in paths:
        rows = json.loads(path.read_bytes()).get("figures", [])
        print(f"\n{folder.name}{path.stem.removeprefix('results').replace('-', ' ')}")
        wide = max((len(row["what"]) for row in rows), default=0)
        for row in rows:
            verdict = {True: "met", False: "MISSED", None: ""}[row.get("met")]
            print(f"  {row['what']:<{wide}}  {row['value']!s:>12}  goal {row.get('goal', '-')!s:<12} {verdict}")


if __name__ == "__main__":
    sys.exit(main())
