from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest


def test_a_name_outside_the_machine_is_refused_and_remembered(refused) -> None:
    with pytest.raises(OSError, match="may not use the network"):
        socket.getaddrinfo("example.com", 443)
    assert refused == ["socket.getaddrinfo: example.com"]
    refused.clear()


def test_an_address_outside_the_machine_is_refused(refused) -> None:
    with socket.socket() as sock, pytest.raises(OSError, match="may not use the network"):
        sock.connect(("192.0.2.1", 80))
    refused.clear()


def test_a_datagram_to_an_address_outside_the_machine_is_refused(refused) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(OSError, match="may not use the network"):
        sock.sendto(b"x", 0, ("192.0.2.1", 80))
    refused.clear()


def test_loopback_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


def test_threads_that_are_traced_start_side_by_side_where_the_network_is_refused() -> None:
    # Coverage traces threads. With an audit hook, CPython 3.11 let some of these die before their first line.
    code = """
import sys, threading
from tests.network import refuse
refuse(print)
threading.settrace(lambda *event: None)
sys.setswitchinterval(1e-6)
died = []
sys.unraisablehook = died.append
def start_many():
    for _ in range(1000):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
starters = [threading.Thread(target=start_many) for _ in range(6)]
for starter in starters:
    starter.start()
for starter in starters:
    starter.join()
print(len(died))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "0"


def test_children_know_that_they_are_offline_and_where_the_cache_is() -> None:
    code = "import os; print(os.environ['HF_HUB_OFFLINE'], os.environ['RAG_INDEX_CACHE_DIR'])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["1", os.environ["RAG_INDEX_CACHE_DIR"]]


def test_a_snapshot_that_differs_fails(snapshot, tmp_path, request) -> None:
    file = request.path.parent / "snapshots" / "example.txt"
    snapshot("in /x\n", "example.txt", replace={"/x": "<folder>"})
    assert file.read_text() == "in <folder>\n"
    if not os.environ.get("RAG_INDEX_UPDATE_SNAPSHOTS"):
        with pytest.raises(AssertionError):
            snapshot("something else\n", "example.txt")
        with pytest.raises(AssertionError, match="no snapshot"):
            snapshot("in <folder>\n", "missing.txt")
