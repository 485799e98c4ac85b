"""Our chunkers as a LlamaIndex node parser, with true positions; needs the extra ``llama-index``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rag_index.chunk import chunk
from rag_index.errors import UsageError
from rag_index.types import Chunk, Chunker, Tokens

try:
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.node_parser.node_utils import build_nodes_from_splits
    from llama_index.core.schema import BaseNode, MetadataMode, TextNode
except ImportError as error:
    raise UsageError("LlamaIndex is not installed", "Run pip install 'rag-index[llama-index]'.") from error


class RagIndexNodeParser(NodeParser):
    """Parse documents into nodes with `rag_index.chunk`.

    ``start_char_idx`` and ``end_char_idx`` of every node are code points of the document's text, so that
    ``text[start_char_idx:end_char_idx] == node.text``, also where the text repeats itself.

    Args:
        chunker: A name, or a function from a text to spans.
        size: Most units in a chunk.
        overlap: Most units that neighbours share, less than `size`.
        unit: ``characters`` or ``tokens``.
        tokens: Finds the token borders of a text (``embedder.tokens``); no chunk exceeds the model's limit.
        settings: Further keywords of `rag_index.chunk` (``separators``, ``language``, ``embed``) and of NodeParser.

    Raises:
        UsageError: at once, where a value is out of its range.
    """

    _cut: Callable[[str], list[Chunk]] = PrivateAttr()

    def __init__(
        self,
        chunker: str | Chunker = "character",
        size: int = 1000,
        overlap: int = 200,
        *,
        unit: str = "characters",
        tokens: Callable[[str], Tokens] | None = None,
        **settings: Any,  # noqa: ANN401 (handed on to `chunk` and NodeParser, which check them)
    ) -> None:
        ours = {name: settings.pop(name) for name in ("separators", "language", "embed") if name in settings}
        super().__init__(**settings)

        def cut(text: str) -> list[Chunk]:
            borders = tokens(text) if tokens else None
            return list(chunk(text, chunker, size, overlap, unit=unit, tokens=borders, **ours))

        cut("")
        self._cut = cut

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any) -> list[BaseNode]:  # noqa: ANN401, ARG002, FBT001, FBT002 (LlamaIndex's signature)
        made: list[BaseNode] = []
        for node in nodes:
            chunks = self._cut(node.get_content(metadata_mode=MetadataMode.NONE))
            built = build_nodes_from_splits([item.text for item in chunks], node, id_func=self.id_func)
            for part, item in zip(built, chunks, strict=True):
                part.start_char_idx, part.end_char_idx = item.start, item.end
                made.append(part)
        return made

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: Mapping[str, Any]) -> list[BaseNode]:
        """Let LlamaIndex link the nodes, then undo its search for their text: it can find an earlier one."""
        places = [(node.start_char_idx, node.end_char_idx) for node in nodes if isinstance(node, TextNode)]
        linked: list[BaseNode] = super()._postprocess_parsed_nodes(nodes, dict(parent_doc_map))
        for node, (start, end) in zip(linked, places, strict=True):
            if isinstance(node, TextNode):
                node.start_char_idx, node.end_char_idx = start, end
        return linked

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex knows this parser."""
        return "RagIndexNodeParser"
