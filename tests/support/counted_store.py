"""An object store that counts: requests by verb and the bytes of bodies by key, in front of moto's server. It can delay
answers, refuse some of them, and count how many requests wait for each other (waves.py)."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from tests.support.object_store import object_store
from tests.support.waves import Waves, waves

_HOP = {"connection", "transfer-encoding", "content-length", "date", "server"}


@dataclass(frozen=True)
class Request:
    """A request: `verb` is LIST for a listing, `sent` the bytes of its answer's body. `range` are the
    first byte and the last one that were asked for, None if all. `wave` is the number of its wave, 0 without waves."""

    verb: str
    path: str
    sent: int
    range: tuple[int, int] | None
    status: int
    wave: int = 0


@dataclass
class CountedStore:
    """Counts what clients ask for. `delay`: seconds before each answer. `refuse` gets a verb and a path, and tells the
    status of an answer that is an error; None lets the request through. `most_at_once`: requests that waited together.
    """

    delay: float = 0.0
    refuse: Callable[[str, str], int | None] = lambda verb, path: None
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0
    _at_once: int = 0
    _waves: Waves | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Count from here on."""
        self.requests, self.most_at_once = [], 0

    @contextmanager
    def in_waves(self) -> Iterator[None]:
        """Count from here on, and answer in waves: this process alone may ask."""
        self.begin()
        with waves() as self._waves:
            try:
                yield
            finally:
                self._waves = None

    @property
    def round_trips(self) -> int:
        """How many answers were waited for one after the other, of those in waves."""
        return len({request.wave for request in self.requests if request.wave})

    def begun(self) -> Waves | None:
        """Begin a request; returns the waves that it belongs to, if there are any."""
        if (now := self._waves) is not None:
            now.begin()
        return now

    def wait(self) -> None:
        """Wait as long as an answer takes."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        time.sleep(self.delay)
        with self._lock:
            self._at_once -= 1

    def verbs(self, below: str = "") -> Counter[str]:
        """Return how many requests there were by verb, of paths that begin so."""
        return Counter(request.verb for request in self.requests if request.path.startswith(below))

    def read(self, below: str) -> int:
        """The bytes of objects that were sent, of paths that begin so."""
        return sum(request.sent for request in self.requests
                   if request.verb == "GET" and request.path.startswith(below))


@contextmanager
def counted_store(*buckets: str) -> Iterator[CountedStore]:
    """The environment in which s3:// is a store that counts, with these buckets."""
    with object_store(*buckets) as behind, pytest.MonkeyPatch.context() as patch:
        store = CountedStore()
        server = _Server(("127.0.0.1", 0), _handler(store, behind))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
        try:
            yield store
        finally:
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that has gone


def _handler(store: CountedStore, behind: str) -> type[BaseHTTPRequestHandler]:
    address = urlsplit(behind).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            waves = store.begun()
            body = self._body()
            store.wait()
            path, _, query = self.path.partition("?")
            verb = "LIST" if self.command == "GET" and re.search(r"(^|&)(list-type|prefix|location)\b", query) else \
                self.command
            status = store.refuse(verb, path)
            headers: list[tuple[str, str]] = []
            if status is not None:
                data = b"" if self.command == "HEAD" else (
                    f"<Error><Code>{'AccessDenied' if status == 403 else 'SlowDown'}</Code>"
                    "<Message>refused</Message></Error>").encode()
                length = str(len(data))
            else:
                connection = HTTPConnection(address)
                connection.request(self.command, self.path, body, dict(self.headers))
                response = connection.getresponse()
                status, data = response.status, response.read()
                length = response.getheader("content-length") or str(len(data))
                headers = [(name, value) for name, value in response.getheaders() if name.lower() not in _HOP]
                connection.close()
            bounds = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
            asked = (int(bounds[1]), int(bounds[2])) if bounds else None
            wave = 0 if waves is None else waves.wait()
            store.requests.append(Request(verb, path, len(data) * (self.command == "GET"), asked, status, wave))
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", length)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

        def _body(self) -> bytes:
            if self.headers.get("transfer-encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("content-length", 0)))
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            del self.headers["transfer-encoding"]
            return b"".join(parts)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
