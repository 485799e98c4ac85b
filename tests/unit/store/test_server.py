"""A Chroma server as the place of the copy: a real one, on loopback."""

from __future__ import annotations

import gc
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.errors import IndexMismatchError, StoreError, UsageError
from rag_index.pipeline import build_documents, check
from rag_index.settings import ChunkSettings, EmbedSettings, Settings, StoreSettings
from rag_index.store import Layout, open_snapshot, published
from rag_index.store.chroma import ChromaStore, _batches
from rag_index.types import Document, Event, Source

pytestmark = [
    pytest.mark.slow,
    # chromadb leaves the sockets of a client that it failed to make to the collector; elsewhere that stays an error
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
EMBED = EmbedSettings(model="hash")
EMBEDDER = load_embedder(EMBED)
COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"


class Server:
    """`chroma run` on a free port of loopback."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = Path(sys.executable).with_name("chroma")
        command = [str(program), "run", "--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=5).close()
                return
            time.sleep(0.1)
        raise AssertionError("chroma run did not come up")

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Collect what chromadb left here, so that no later test is told of it."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    made = Server(tmp_path_factory.mktemp("server"))
    made.start()
    yield made
    made.stop()


def settings(url: str, collection: str) -> Settings:
    return Settings(chunk=ChunkSettings(size=200, overlap=40), embed=EMBED, store=StoreSettings(url, collection))


def documents(count: int, word: str = "") -> list[Document]:
    return [Document(Source(f"{n}.txt"), text=f"Text {n} of pumps. {word * (n == 1)}") for n in range(count)]


def test_a_server_holds_each_generation_as_a_collection(server: Server, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build_documents(documents(30), index, settings(server.url, "first"), embedder=EMBEDDER)
    one = published(Layout(index))
    build_documents(documents(29, "Changed."), index, settings(server.url, "first"), embedder=EMBEDDER)
    two = published(Layout(index))
    assert (one.collection, two.collection, two.count) == ("first-000001", "first-000002", 29)
    names = {each["name"] for each in json.load(urllib.request.urlopen(server.url + COLLECTIONS))}
    assert "first-000002" in names
    assert "first-000001" not in names
    assert check(index, full=True).faults == []
    question = EMBEDDER.embed_query("Text 7 of pumps")
    with open_snapshot(index) as snapshot:
        assert snapshot.dense(question, 5, retriever="chroma") == snapshot.dense(question, 5, retriever="exact")


def test_a_poisoned_collection_is_refused_and_runs_nothing(server: Server, tmp_path: Path) -> None:
    function = {"type": "known", "name": "sentence_transformer", "config": {"kwargs": {"trust_remote_code": True}}}
    body = {"name": "bad-000001", "configuration": {"embedding_function": function}}
    request = urllib.request.Request(
        server.url + COLLECTIONS, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request).close()
    with pytest.raises(IndexMismatchError, match="sentence_transformer"):
        build_documents(documents(3), tmp_path / "index", settings(server.url, "bad"), embedder=EMBEDDER)
    with open_snapshot(tmp_path / "index") as snapshot:
        assert snapshot.info.counts.chunks == 3


def test_a_collection_of_another_index_is_left_alone(server: Server, tmp_path: Path) -> None:
    build_documents(documents(3), tmp_path / "a", settings(server.url, "shared"), embedder=EMBEDDER)
    with pytest.raises(IndexMismatchError, match="belongs to something else"):
        build_documents(documents(3), tmp_path / "b", settings(server.url, "shared"), embedder=EMBEDDER)


def test_a_server_that_dies_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    server.start()
    store = ChromaStore(server.url, "rows", create={"index_id": "x"})
    record = ("a", EMBEDDER.embed_query("a").tolist(), "text", {"source": "a"})
    store.add(iter([record]))
    server.stop()
    timer = threading.Timer(3, server.start)
    timer.start()
    store.add(iter([record, ("b", *record[1:])]))
    assert store.ids() == {"a", "b"}
    store.close()
    timer.join()
    server.stop()


@pytest.mark.nightly
def test_a_build_outlasts_a_server_that_is_away_for_five_seconds(tmp_path: Path) -> None:
    server, index = Server(tmp_path / "server"), tmp_path / "index"
    server.start()
    told: list[Event] = []

    def hear(event: Event) -> None:
        told.append(event)
        if event.stage == "publish" and event.done and not any(e.stage == "publish" and e.done for e in told[:-1]):
            server.stop()
            threading.Timer(5, server.start).start()

    build_documents(documents(2500), index, settings(server.url, "away"), embedder=EMBEDDER, report=hear)
    assert published(Layout(index)).count == 2500
    assert check(index, full=True).faults == []
    server.stop()


def test_a_server_that_fails_some_requests_is_asked_again(server: Server, tmp_path: Path) -> None:
    class Proxy(BaseHTTPRequestHandler):
        """Passes requests on; every third change is answered with 500, whether or not it was done."""

        seen = 0

        def handle_any(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = urllib.request.Request(
                server.url + self.path, data or None, {"Content-Type": "application/json"}, method=self.command
            )
            try:
                with urllib.request.urlopen(request) as answer:
                    code, body = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                code, body = error.code, error.read()
            if self.path.endswith("/upsert"):
                Proxy.seen += 1
                if Proxy.seen % 3 == 1:
                    code, body = 500, b'{"error":"InternalError","message":"tried"}'
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{proxy.server_port}"
    build_documents(documents(20), tmp_path / "index", settings(url, "proxied"), embedder=EMBEDDER)
    assert published(Layout(tmp_path / "index")).count == 20
    assert Proxy.seen > 1
    proxy.shutdown()
    proxy.server_close()


def test_a_server_that_is_not_there_costs_only_the_copy(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Chroma failed at"):
        build_documents(documents(3), tmp_path / "index", settings("http://127.0.0.1:9", "x1y"), embedder=EMBEDDER)
    with open_snapshot(tmp_path / "index") as snapshot:
        assert snapshot.info.counts.chunks == 3


def test_a_server_elsewhere_is_warned_about_before_anything_is_sent(tmp_path: Path) -> None:
    told: list[Event] = []
    where = settings("http://rag-index.invalid:9", "x1y")
    with pytest.raises(StoreError):
        build_documents(documents(1), tmp_path / "index", where, embedder=EMBEDDER, report=told.append)
    assert any("in the clear" in event.note for event in told if event.stage == "warning")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="must be http://host:port"):
        ChromaStore("ftp://x", "abc")


def test_requests_to_a_server_are_bounded_by_bytes_and_batches_for_a_folder_only_by_count() -> None:
    def batches(most_bytes: int | None) -> list[int]:
        records = ((str(n), [0.5] * 384, "x" * 5000, {}) for n in range(10))
        return [len(batch) for batch in _batches(records, 6, most_bytes)]

    assert batches(None) == [6, 4]
    assert batches(50_000) == [3, 3, 3, 1]
