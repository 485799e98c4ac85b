"""Commands that measure: eval, and eval make-questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_index.cli.frame import ConfigFile, Flags, IndexDir, Json, Quiet, command

if TYPE_CHECKING:
    from rag_index.evaluate import Labels, Run, Verdict
    from rag_index.evaluate.plan import Plan
    from rag_index.settings import Settings
    from rag_index.types import Document

MAKE = "make-questions"

Questions = Annotated[
    str, typer.Argument(metavar="QUESTIONS", help="Question file, or make-questions to make one from --docs.")
]
Docs = Annotated[
    list[Path] | None,
    typer.Option("--docs", metavar="PATH", help="Documents [default: those of the index]. Can be given several times."),
]


def _list(name: str, meaning: str) -> Any:  # noqa: ANN401 (typer's option)
    return typer.Option(f"--{name}", metavar="A,B", help=f"{meaning}, separated by commas.")


Chunkers = Annotated[str | None, _list("chunkers", "Chunkers to compare")]
Sizes = Annotated[str | None, _list("sizes", "Chunk sizes")]
Overlaps = Annotated[str | None, _list("overlaps", "Overlaps, in units (100) or as a share of the size (0.25)")]
Units = Annotated[str | None, _list("units", "characters, tokens")]
Models = Annotated[str | None, _list("models", "Models")]
Modes = Annotated[str | None, _list("modes", "hybrid, dense, keyword")]
Kinds = Annotated[str | None, _list("passages", "sentence, chunk, window")]
Budgets = Annotated[str | None, _list("budgets", "Characters at which recall is measured")]
AtK = Annotated[str | None, typer.Option("-k", metavar="N", help="Passages for the metrics at k [default: 5].")]
Metric = Annotated[str | None, typer.Option(metavar="NAME", help="The metric that decides [default: recall@3000].")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Processes that ask questions.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Measure again what is known; vectors are kept.")]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report that stands alone.")]
Png = Annotated[Path | None, typer.Option(metavar="DIR", help="Write the charts as pictures.")]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write all values, a line a configuration.")]
Save = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the run, for --baseline.")]
Baseline = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Exit with code 1 on a significant loss against this run.")
]
Floors = Annotated[
    list[str] | None,
    typer.Option(metavar="METRIC=N", help="Exit with code 1 below it: recall@3000=0.85. Can be given several times."),
]
Write = Annotated[Path | None, typer.Option(metavar="FILE", help="Put the recommended settings into it.")]
Count = Annotated[int, typer.Option(metavar="N", help="Questions for make-questions.")]


@command(
    "eval", settings=("embed", "extract"), example="rag-index eval questions.jsonl --docs docs --sizes 250,500,1000"
)
def evaluate(
    questions: Questions,
    *,
    docs: Docs = None,
    chunkers: Chunkers = None,
    sizes: Sizes = None,
    overlaps: Overlaps = None,
    units: Units = None,
    models: Models = None,
    modes: Modes = None,
    passages: Kinds = None,
    k: AtK = None,
    budgets: Budgets = None,
    metric: Metric = None,
    jobs: Jobs = 1,
    fresh: Fresh = False,
    html: Html = None,
    png: Png = None,
    csv: Csv = None,
    save: Save = None,
    baseline: Baseline = None,
    fail_under: Floors = None,
    write: Write = None,
    count: Count = 60,
    index: IndexDir = None,
    config: ConfigFile = None,
    flags: Flags,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare chunkers, sizes, overlaps, models and search modes on your questions, and say which to take.

    Nothing is asked of a language model: an answer is right as far as it covers the characters that the question
    file names. Formats: JSON lines, Chroma's CSV, SQuAD, YAML snippets, TREC qrels.
    """
    from rag_index.cli import render_eval

    ask = _Ask(questions, docs or [], index, config, flags, quiet=quiet)
    if questions == MAKE:
        render_eval.show_questions(ask.documents(), count, quiet=quiet)
        return
    lists = {"chunkers": chunkers, "sizes": sizes, "overlaps": overlaps, "units": units, "models": models}
    plan = ask.plan({**lists, "modes": modes, "passages": passages, "k": k, "budgets": budgets, "metric": metric})
    floors = _floors(fail_under or [], plan)
    run, verdict, labels, documents = ask.run(plan, jobs=jobs, fresh=fresh)
    checks = _checks(run, verdict, floors, baseline)
    render_eval.write_files(run, verdict, labels, documents, html=html, png=png, csv=csv, save=save, write=write)
    render_eval.show(run, verdict, checks, as_json=as_json, quiet=quiet)
    if not all(check.passed for check in checks):
        raise typer.Exit(1)


@dataclass(slots=True)
class _Ask:
    """What the command was given, and what follows from it."""

    questions: str
    docs: Sequence[Path]
    index: Path | None
    config: Path | None
    flags: Flags
    quiet: bool

    def settings(self) -> Settings:
        """Return the settings: with ``--docs`` those at hand, else those of the index, flags before both."""
        from rag_index.settings import Settings, load_settings

        if self.docs or self._own_documents():
            return load_settings(self.flags, near=self._near(), config=self.config).settings
        from rag_index.store import find_index, open_snapshot

        with open_snapshot(find_index(Path(), self.index)) as snapshot:
            stored = snapshot.info.settings
        resolved = load_settings(self.flags, config=self.config)
        given = {key for key, origin in resolved.origins.items() if origin == "flag"}
        values = stored.to_dict() | {"search": resolved.settings.to_dict()["search"]}
        for key in given:
            part, name = key.split(".")
            values[part][name] = resolved.settings.to_dict()[part][name]
        return Settings.from_dict(values)

    def plan(self, flags: Flags) -> Plan:
        from rag_index.evaluate.plan import read_plan
        from rag_index.settings import find_config

        return read_plan(flags, self.config or find_config(self._near()))

    def documents(self) -> dict[str, Document]:
        """Return the documents by name: those under ``--docs``, of the question file itself, or of the index."""
        from rag_index.cli.terminal import progress
        from rag_index.evaluate.sources import documents_in, documents_of
        from rag_index.store import find_index

        if self._own_documents():
            from rag_index.evaluate.formats import squad_documents

            return squad_documents(Path(self.questions))
        if not self.docs:
            return documents_of(find_index(Path(), self.index))
        with progress(quiet=self.quiet) as report:
            return documents_in(self.docs, self.settings().extract, report=report)

    def run(self, plan: Plan, *, jobs: int, fresh: bool) -> tuple[Run, Verdict, Labels, dict[str, Document]]:
        from rag_index.cli.terminal import progress
        from rag_index.evaluate import judge, load_questions, sweep

        settings = self.settings()
        cells, left_out = plan.grid.cells(settings)
        documents = self.documents()
        labels = load_questions(Path(self.questions), documents)
        with progress(quiet=self.quiet) as report:
            run = sweep(
                list(documents.values()),
                labels,
                cells,
                base=settings,
                measure=plan.measure,
                report=report,
                jobs=jobs,
                fresh=fresh,
                warnings=left_out,
                ready=self._ready(settings),
            )
        return run, judge(run, plan.metric), labels, documents

    def _ready(self, settings: Settings) -> dict[str, Path]:
        """Return the index at hand, so that its own configuration is measured on itself."""
        from rag_index.evaluate import Cell
        from rag_index.store import find_index, open_snapshot

        if self.docs or self._own_documents():
            return {}
        folder = find_index(Path(), self.index)
        with open_snapshot(folder) as snapshot:
            stored = snapshot.info.settings
        return {Cell(stored.chunk, stored.embed, settings.search).build_key: folder}

    def _own_documents(self) -> bool:
        """Whether the question file brings its documents: SQuAD's contexts, when no others were named."""
        return not self.docs and self.index is None and self.questions.endswith(".json")

    def _near(self) -> Path:
        return self.docs[0] if self.docs and self.docs[0].is_dir() else Path()


def _floors(texts: Sequence[str], plan: Plan) -> Any:  # noqa: ANN401 (list of Floor, not imported for --help)
    from rag_index.evaluate.gate import read_floors

    return read_floors(texts, plan.measure)


def _checks(run: Run, verdict: Verdict, floors: Any, baseline: Path | None) -> Any:  # noqa: ANN401 (the same)
    from rag_index.evaluate.gate import check_baseline, check_floors

    checks = check_floors(run, floors, verdict.recommended)
    return checks + (check_baseline(run, baseline, verdict.metric) if baseline else [])
