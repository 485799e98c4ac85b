"""Speed: embedding, builds, rebuilds, queries, start-up and memory, beside what people do without rag-index.

    python benchmarks/speed/run.py                   all parts
    python benchmarks/speed/run.py embedding build   some; the rest of results.json stays

Every ratio is of two things measured in the same run, one after the other, several times. CPU seconds (user and
system, children included) are the main figure: they bear other work on the machine better than the clock does.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
PARTS = ("start", "embedding", "build", "larger", "rebuild", "stop", "query", "warm", "memory")
sys.path.insert(0, str(HERE))


def main(names: list[str]) -> None:
    """Run the parts called `names` (all when empty) and keep each as soon as it is done.

    Each in a process of its own: the peak memory of a child counts from what its parent holds when it is started.
    """
    for name in names or PARTS:
        if name not in PARTS:
            sys.exit(f"no part {name!r}; there are {', '.join(PARTS)}")
        if len(names) != 1:
            subprocess.run([sys.executable, __file__, name], check=True)
            continue
        print(f"-- {name}", flush=True)
        found = import_module(f"part_{name}").measure()
        results = json.loads(RESULTS.read_bytes()) if RESULTS.is_file() else {}
        parts = results.get("parts", {})
        parts[name] = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **machine(), **found}
        write(parts)


def machine() -> dict[str, object]:
    """Say what it was measured on, and how busy that was with other work."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load_average": [round(value, 1) for value in os.getloadavg()],
        "python": platform.python_version(),
    }


def write(parts: dict[str, dict]) -> None:
    """Write the parts, their figures with goals, and the README's rows."""
    figures = [row for name in PARTS for row in parts.get(name, {}).get("figures", [])]
    readme = [row for name in PARTS for row in parts.get(name, {}).get("readme", [])]
    note = "The machine was shared with other work: trust ratios, not seconds."
    RESULTS.write_text(
        json.dumps({"note": note, "figures": figures, "readme": readme, "parts": parts}, indent=1, ensure_ascii=False)
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
