"""A broker of Kafka, as far as the refusal of a login: what connects, and what logs in, is counted.

It speaks ApiVersions 3, SaslHandshake 1 and SaslAuthenticate 1. Told to close, it closes every connection after the
first request, as a broker does that was asked without a login.
"""

from __future__ import annotations

import socket
import struct
import threading

API_VERSIONS, HANDSHAKE, AUTHENTICATE = 18, 17, 36
_KNOWN = ((3, 0, 8), (HANDSHAKE, 0, 1), (API_VERSIONS, 0, 3), (AUTHENTICATE, 0, 1))
"""Requests with their versions: Metadata is the first."""
_REFUSED = 58
"""SASL_AUTHENTICATION_FAILED."""


class Refusing:
    """Listens on 127.0.0.1 for as long as the block lasts."""

    def __init__(self, closing: bool = False) -> None:
        self.connections, self.logins = 0, 0
        self._closing, self._listener = closing, socket.create_server(("127.0.0.1", 0))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Refusing:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as asked:
            while len(size := asked.read(4)) == 4:
                request = asked.read(struct.unpack(">i", size)[0])
                if self._closing:
                    return
                kind, _, correlation = struct.unpack(">hhi", request[:8])
                answer = struct.pack(">i", correlation) + self._body(kind)
                connection.sendall(struct.pack(">i", len(answer)) + answer)

    def _body(self, kind: int) -> bytes:
        if kind == API_VERSIONS:
            listed = b"".join(struct.pack(">hhhB", *one, 0) for one in _KNOWN)
            return struct.pack(">hB", 0, len(_KNOWN) + 1) + listed + struct.pack(">iB", 0, 0)
        if kind == HANDSHAKE:
            return struct.pack(">hih5s", 0, 1, 5, b"PLAIN")
        assert kind == AUTHENTICATE, f"nothing else is asked before a login: {kind}"
        self.logins += 1
        because = b"Invalid username or password"
        return struct.pack(f">hh{len(because)}siq", _REFUSED, len(because), because, 0, 0)
