"""Read question files: our own JSON lines, and those of other tools."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

from rag_index.errors import LabelError
from rag_index.evaluate.labels import Labels, RawPlace, RawQuestion, check
from rag_index.types import Document, Source, Warn

Documents: TypeAlias = Mapping[str, Document]


def load_questions(path: Path, documents: Mapping[str, Document]) -> Labels:
    """Read a question file and check it against the documents that it speaks of.

    The format follows the name: ``.jsonl`` (our own), ``.csv`` (Chroma's chunking_evaluation), ``.json`` (SQuAD),
    ``.yaml`` (snippets), anything else TREC qrels with the questions beside it.

    Args:
        path: The file.
        documents: Name -> document. A label may leave out the folder or the suffix where that names one document.

    Raises:
        LabelError: the first thing wrong, with its line.
    """
    warnings: list[Warn] = []
    raw = list(_READERS.get(path.suffix.lower(), read_qrels)(path, documents, warnings))
    return check(raw, documents, str(path), warnings)


def read_jsonl(path: Path, _documents: Documents, _warnings: list[Warn]) -> Iterator[RawQuestion]:
    """Yield the questions of a JSON-lines file: ``{"id","question","refs":[{"doc","start","end","text"}],"tags"}``.

    A reference may name further places that will do as well: ``"also": [{"doc","start","end","text"}]``.
    """
    for number, line in enumerate(_text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise LabelError(
                f"{path}: {where} is not JSON: {error.msg} (column {error.colno})", "Write one JSON object a line."
            ) from error
        if not isinstance(entry, dict):
            raise LabelError(f"{path}: {where} is not a JSON object", "Write one JSON object a line.")
        yield _from_entry(entry, f"{path}: {where}", where, number)


def _text_of(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise LabelError(f"can't read {path}: {error.strerror}", "Check the path of the question file.") from error
    except UnicodeDecodeError as error:
        raise LabelError(f"{path} is not UTF-8 at byte {error.start}", "Save the question file as UTF-8.") from error


def _from_entry(entry: Mapping[str, object], place: str, where: str, number: int) -> RawQuestion:
    refs = entry.get("refs", [])
    tags = entry.get("tags", [])
    if not isinstance(refs, list) or not all(isinstance(ref, dict) for ref in refs):
        raise LabelError(f"{place}: refs is not a list of objects", 'Write "refs": [{"doc", "start", "end", "text"}].')
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise LabelError(f"{place}: tags is not a list of words", 'Write "tags": ["..."] or leave it out.')
    question = entry.get("question", "")
    if not isinstance(question, str):
        raise LabelError(f"{place}: question is {question!r}, not text", 'Write "question": "...".')
    references = tuple(tuple(_raw_places(ref, place)) for ref in refs)
    return RawQuestion(where, str(entry.get("id", number)), question, references, tuple(tags))


def _raw_places(ref: Mapping[str, object], place: str) -> Iterator[RawPlace]:
    also = ref.get("also", [])
    if not isinstance(also, list):
        raise LabelError(f"{place}: also is not a list", 'Write "also": [{"doc", "start", "end", "text"}].')
    for entry in [ref, *also]:
        values = [entry.get(name) for name in ("doc", "text", "start", "end")] if isinstance(entry, dict) else [()] * 4
        doc, text, start, end = values
        whole = all(value is None or (isinstance(value, int) and not isinstance(value, bool)) for value in (start, end))
        if not (isinstance(doc, str) and doc and isinstance(text, str | None) and whole):
            hint = "Give doc and text, or doc, start and end, or all four."
            raise LabelError(f"{place}: a reference of the wrong shape: {json.dumps(entry, default=str)[:120]}", hint)
        yield RawPlace(doc, text, start, end)  # type: ignore[arg-type]  # checked just above


def read_chroma(path: Path, _documents: Documents, _warnings: list[Warn]) -> Iterator[RawQuestion]:
    """Yield the questions of Chroma's chunking_evaluation: columns question, references, corpus_id."""
    rows = csv.DictReader(StringIO(_text_of(path), newline=""))
    wanted = {"question", "references", "corpus_id"}
    if not wanted <= set(rows.fieldnames or ()):
        raise LabelError(
            f"{path} has the columns {', '.join(rows.fieldnames or ()) or 'of nothing'}",
            "Give question, references (JSON: content, start_index, end_index) and corpus_id.",
        )
    for number, row in enumerate(rows, 1):
        where = f"line {rows.line_num}"
        try:
            refs = [
                (RawPlace(row["corpus_id"], ref["content"], int(ref["start_index"]), int(ref["end_index"])),)
                for ref in json.loads(row["references"])
            ]
        except (ValueError, TypeError, KeyError) as error:
            hint = "Write a JSON list of objects with content, start_index and end_index."
            raise LabelError(f"{path}: {where}: the references can't be read: {error!r}", hint) from error
        yield RawQuestion(where, str(number), row["question"] or "", tuple(refs), (row["corpus_id"],))


def read_squad(path: Path, documents: Documents, warnings: list[Warn]) -> Iterator[RawQuestion]:
    """Yield the questions of a SQuAD file; several answers to one question are alternatives.

    Each context is looked for in the documents. Questions without an answer are left out and counted.
    """
    unanswered = 0
    for article, paragraph, offset, doc in _contexts(path, documents):
        for entry in paragraph["qas"]:
            answers = {(answer["answer_start"], answer["text"]) for answer in entry.get("answers", ())}
            if not answers:
                unanswered += 1
                continue
            spots = tuple(
                RawPlace(doc, text, offset + start, offset + start + len(text)) for start, text in sorted(answers)
            )
            tag = (str(article.get("title")),) if article.get("title") else ()
            yield RawQuestion(f"question {entry['id']}", str(entry["id"]), entry["question"], (spots,), tag)
    if unanswered:
        warnings.append(Warn("unanswerable", f"{unanswered} questions have no answer and are left out", unanswered))


def squad_documents(path: Path) -> dict[str, Document]:
    """Return the articles of a SQuAD file as documents, contexts joined by a blank line."""
    texts: dict[str, str] = {}
    for number, article in enumerate(_squad(path), 1):
        contexts = dict.fromkeys(str(paragraph["context"]) for paragraph in article["paragraphs"])
        texts[f"{number:04d} {article.get('title', '')}".strip()] = "\n\n".join(contexts)
    return {name: Document(Source(name, format="text"), text=text) for name, text in texts.items()}


def read_snippets(path: Path, _documents: Documents, _warnings: list[Warn]) -> Iterator[RawQuestion]:
    """Yield the questions of a YAML file: ``questions: [{id, query, gold_snippets: [text or [texts]], doc}]``.

    A list in place of a text is one piece of evidence with several wordings, any of which will do.
    """
    import yaml

    try:
        whole = yaml.load(_text_of(path), Loader=_numbered())  # noqa: S506 (made from SafeLoader)
    except yaml.YAMLError as error:
        raise LabelError(f"{path} is not valid YAML: {error}", "Mend the line that the message names.") from error
    entries = whole.get("questions") if isinstance(whole, dict) else whole
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise LabelError(f"{path} holds no list of questions", "Write questions: [{id, query, gold_snippets}].")
    for number, entry in enumerate(entries, 1):
        where = f"line {entry[_LINE]}"
        snippets = entry.get("gold_snippets", entry.get("snippets", []))
        slots = [[slot] if isinstance(slot, str) else slot for slot in snippets] if isinstance(snippets, list) else None
        if slots is None or not all(isinstance(s, list) and all(isinstance(text, str) for text in s) for s in slots):
            raise LabelError(f"{path}: {where}: gold_snippets is not a list of texts", "Quote each snippet.")
        doc = str(entry.get("doc", ""))
        references = tuple(tuple(RawPlace(doc, text) for text in slot) for slot in slots)
        question = str(entry.get("query", entry.get("question", "")))
        yield RawQuestion(where, str(entry.get("id", number)), question, references)


def read_qrels(path: Path, documents: Documents, warnings: list[Warn]) -> Iterator[RawQuestion]:
    """Yield the questions of TREC qrels (``question 0 document relevance``, or BEIR's three columns).

    Each relevant document is a reference as a whole. The questions stand beside the file, in ``queries.tsv``
    (id, tab, text) or ``queries.jsonl`` (``_id``, ``text``). Judgements of 0 or less are left out.
    """
    texts = _queries(path)
    judged: dict[str, list[RawPlace]] = defaultdict(list)
    first: dict[str, int] = {}
    for number, line in enumerate(_text_of(path).splitlines(), 1):
        columns = line.split()
        if not columns or columns[0] == "query-id":
            continue
        question, doc, relevance = _judgement(columns, f"{path}: line {number}")
        if relevance > 0:
            size = len(documents[doc].text) if doc in documents else None
            judged[question].append(RawPlace(doc, None, 0, size) if size else RawPlace(doc, None, 0, 1))
            first.setdefault(question, number)
    for question, places in judged.items():
        where = f"line {first[question]}"
        if question not in texts:
            raise LabelError(f"{path}: {where}: no text for question {question!r}", "Put queries.tsv beside the qrels.")
        yield RawQuestion(where, question, texts[question], tuple((place,) for place in places))
    silent = len(texts.keys() - judged.keys())
    if silent:
        warnings.append(Warn("unanswerable", f"{silent} questions have no relevant document and are left out", silent))


_READERS: dict[str, Callable[[Path, Documents, list[Warn]], Iterator[RawQuestion]]] = {
    ".jsonl": read_jsonl,
    ".csv": read_chroma,
    ".json": read_squad,
    ".yaml": read_snippets,
    ".yml": read_snippets,
}
_LINE = "__line__"


def _squad(path: Path) -> list[Any]:
    try:
        articles = json.loads(_text_of(path))["data"]
        whole = all(_is_paragraph(paragraph) for article in articles for paragraph in article["paragraphs"])
    except (ValueError, TypeError, KeyError) as error:
        hint = "Give data: [{title, paragraphs: [{context, qas}]}]."
        raise LabelError(f"{path} is not a SQuAD file: {error!r}", hint) from error
    if not whole:
        raise LabelError(f"{path} is not a SQuAD file", "Give each paragraph a context, each question an id and text.")
    return list(articles)


def _is_paragraph(paragraph: Mapping[str, Any]) -> bool:
    texts = [paragraph["context"], *(entry["question"] for entry in paragraph["qas"])]
    return all(isinstance(text, str) and text for text in texts) and all("id" in entry for entry in paragraph["qas"])


def _contexts(path: Path, documents: Documents) -> Iterator[tuple[dict[str, Any], dict[str, Any], int, str]]:
    """Yield (article, paragraph, where its context begins, in which document)."""
    for a, article in enumerate(_squad(path), 1):
        for p, paragraph in enumerate(article["paragraphs"], 1):
            spots = ((document.text.find(paragraph["context"]), name) for name, document in documents.items())
            found = next(((at, name) for at, name in spots if at >= 0), None)
            if found is None:
                raise LabelError(
                    f"{path}: article {a}, paragraph {p}: no document holds its context",
                    "Leave out --docs to use the contexts themselves as documents.",
                )
            yield article, paragraph, *found


def _numbered() -> Any:  # noqa: ANN401 (a class that yaml makes)
    """Return a safe YAML loader that notes the line of each mapping."""
    import yaml

    class Numbered(yaml.SafeLoader):  # type: ignore[misc]  # yaml ships no types
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: ANN401, FBT001, FBT002
            return {**super().construct_mapping(node, deep=deep), _LINE: node.start_mark.line + 1}

    return Numbered


def _queries(path: Path) -> dict[str, str]:
    table, lines = path.with_name("queries.tsv"), path.with_name("queries.jsonl")
    if lines.is_file():
        try:
            entries = [json.loads(line) for line in _text_of(lines).split("\n") if line.strip()]
            return {str(entry.get("_id", entry.get("id"))): str(entry.get("text", "")) for entry in entries}
        except (ValueError, AttributeError) as error:
            raise LabelError(f"{lines}: {error}", "Write one object a line: _id and text.") from error
    if table.is_file():
        pairs = [line.partition("\t") for line in _text_of(table).splitlines() if line.strip()]
        return {id_: text for id_, _, text in pairs}
    raise LabelError(f"no questions beside {path}", "Put queries.tsv (id, tab, text) or queries.jsonl beside it.")


def _judgement(columns: list[str], where: str) -> tuple[str, str, float]:
    try:
        if len(columns) == 4:  # noqa: PLR2004 (TREC's four columns)
            return columns[0], columns[2], float(columns[3])
        question, doc, relevance = columns
        return question, doc, float(relevance)
    except ValueError as error:
        raise LabelError(f"{where} is no judgement: {' '.join(columns)!r}", "Write: question 0 document 1.") from error
