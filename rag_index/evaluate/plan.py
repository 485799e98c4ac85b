"""What an evaluation is asked to compare and to measure: from a ``[sweep]`` table, flags before it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rag_index.errors import ConfigError, UnknownNameError, UsageError
from rag_index.evaluate.grid import Grid
from rag_index.evaluate.run import check_metric
from rag_index.evaluate.scoring import Measure

DEFAULT_METRIC = "recall@3000"
_LISTS = tuple(each.name for each in fields(Grid))
_KEYS = (*_LISTS, "k", "budgets", "metric")


@dataclass(frozen=True, slots=True)
class Plan:
    """A grid, what is measured on it, and the metric that decides."""

    grid: Grid
    measure: Measure
    metric: str


def read_plan(flags: Mapping[str, Any], config: Path | None) -> Plan:
    """Read the ``[sweep]`` table of the settings file `config`, if there is one; flags that were given come first.

    Args:
        flags: ``sizes`` and its kind as ``"200,500"``, ``k``, ``budgets``, ``metric``; None where not given.
        config: A settings file; its other tables are none of our business.

    Raises:
        ConfigError: the file can't be read, or its table holds an unknown key or a value of the wrong kind.
        UsageError: a flag is of the wrong kind or out of its range, or the metric is not measured.
    """
    table = _table(config) if config else {}
    values = {**table, **{name: value for name, value in flags.items() if value is not None}}
    lists = {name: _items(name, values[name]) for name in _LISTS if name in values}
    sizes = tuple(_whole("sizes", text) for text in lists.pop("sizes", ()))
    grid = Grid(sizes=sizes, **lists)
    metric = str(values.get("metric", DEFAULT_METRIC))
    measure = _measure(values, metric)
    check_metric(metric, measure)
    return Plan(grid, measure, metric)


def _measure(values: Mapping[str, Any], metric: str) -> Measure:
    """Make what is measured hold what decides: ``--metric recall@1500`` adds that budget."""
    given = Measure(k=_whole("k", values["k"])) if "k" in values else Measure()
    budgets = given.budgets
    if "budgets" in values:
        budgets = tuple(_whole("budgets", text) for text in _items("budgets", values["budgets"]))
    wanted = metric.rpartition("@")[2]
    if wanted.isdecimal() and ("budgets" not in values or metric == DEFAULT_METRIC):
        budgets = tuple(sorted({*budgets, int(wanted)})) if all(b > 0 for b in budgets) else budgets
    return Measure(given.k, budgets)


def _table(config: Path) -> Mapping[str, Any]:
    try:
        table = tomllib.loads(config.read_text(encoding="utf-8")).get("sweep", {})
    except OSError as error:
        raise ConfigError(f"can't read {config}: {error.strerror}", "Check --config.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{config} is not valid TOML: {error}", "Mend the line that the message names.") from error
    if not isinstance(table, dict):
        raise ConfigError(f"{config}: sweep is no table", "Write [sweep] and its keys below it.")
    for key in table:
        if key not in _KEYS:
            unknown = UnknownNameError.named("setting", f"sweep.{key}", [f"sweep.{known}" for known in _KEYS])
            raise ConfigError(f"{config}: {unknown.message}", unknown.hint)
    return table


def _items(name: str, value: object) -> tuple[str, ...]:
    """Return the items of ``"a,b"`` or of a TOML list, as text."""
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    texts = tuple(str(item).strip() for item in items)
    if not all(texts) or any(isinstance(item, bool | dict | list) for item in items):
        raise UsageError(f"{name} is {value!r} but must be a list, as in a,b", f"Mend --{name}.")
    return texts


def _whole(name: str, value: object) -> int:
    try:
        return int(str(value))
    except ValueError as error:
        raise UsageError(f"{name}: {value!r} is no whole number", f"Mend --{name}.") from error
