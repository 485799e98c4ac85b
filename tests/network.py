"""Keep a process on its own machine.

The socket calls themselves are wrapped. An audit hook would see calls from C code too, but CPython before 3.12
can't start two traced threads at once while one is present: a thread under coverage then dies before its first line.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any


def refuse(told: Callable[[str], object]) -> None:
    """Let only loopback addresses through, for the rest of this process; `told` gets each address refused."""
    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, _guarded(name, getattr(socket.socket, name), told))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        setattr(socket, name, _guarded(name, getattr(socket, name), told))


def _guarded(name: str, call: Callable[..., Any], told: Callable[[str], object]) -> Callable[..., Any]:
    def guarded(*args: Any, **options: Any) -> Any:
        host = options.get("host", _host(args))
        if host is not None and not _is_here(host):
            told(f"socket.{name}: {host}")
            raise OSError(f"tests may not use the network (socket.{name}: {host})")
        return call(*args, **options)

    return guarded


def _host(args: tuple[Any, ...]) -> str | None:
    """Return the host that a call names; None for a Unix socket and for no host at all."""
    if args and isinstance(args[0], socket.socket):  # the address is last: sendto has flags before it
        address = args[-1]
        host = address[0] if isinstance(address, tuple) else None
    else:
        host = args[0] if args else None
    return host.decode() if isinstance(host, bytes) else host


def _is_here(host: str) -> bool:
    if host in {"", "localhost", socket.gethostname()}:
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
