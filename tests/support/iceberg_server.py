"""A REST catalog of Iceberg on this machine, over an in-memory one: as much of the protocol as publications and readers
use, with or without the request that commits to several tables, which can fail and be overtaken."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyiceberg import exceptions
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.catalog.rest import DEFAULT_ENDPOINTS
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest, Table
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

_STATUS = {exceptions.CommitFailedException: 409, exceptions.NamespaceAlreadyExistsError: 409,
           exceptions.TableAlreadyExistsError: 409, exceptions.NoSuchTableError: 404,
           exceptions.NoSuchNamespaceError: 404}


class Server(HTTPServer):
    """The catalog. `requests` are those that change something, in order; `before_request` is called with each of these
    before it is answered, and what it raises is the answer: a number as a status, an error of pyiceberg's as the
    server has it."""

    def __init__(self, folder: Path, transactions: bool):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.uri = f"http://127.0.0.1:{self.server_port}"
        self.folder, self.transactions = folder, transactions
        self.catalog = InMemoryCatalog("served", warehouse=f"file://{folder}/warehouse",
                                       uri=f"sqlite:///{folder}/served.db")
        self.requests = list[str]()
        self.before_request: Callable[[str], None] = lambda request: None


class Refused(Exception):
    """The status that a server answers with."""


@contextmanager
def serving(folder: Path, transactions: bool = True) -> Iterator[Server]:
    """A server while it is needed."""
    with Server(folder, transactions) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_HEAD(self) -> None:
        self._answer("HEAD")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def _answer(self, method: str) -> None:
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")][1:]
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        try:
            if method in ("POST", "DELETE"):
                self.server.requests.append(f"{method} {'/'.join(parts)}")
                self.server.before_request(self.server.requests[-1])
            status, answer = self._made(method, parts, body)
        except Refused as refused:
            status, answer = refused.args[0], _error(refused, refused.args[0])
        except tuple(_STATUS) as error:
            status, answer = _STATUS[type(error)], _error(error, _STATUS[type(error)])
        text = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(b"" if method == "HEAD" else text)

    def _made(self, method: str, parts: list[str], body: Any) -> tuple[int, Any]:
        """The status and the answer to a request."""
        catalog = self.server.catalog
        match method, parts:
            case "GET", ["config"]:
                return 200, {"defaults": {}, "overrides": {}, **self._endpoints()}
            case "GET", ["namespaces"]:
                return 200, {"namespaces": [list(name) for name in catalog.list_namespaces()]}
            case "POST", ["namespaces"]:
                catalog.create_namespace(tuple(body["namespace"]), body["properties"])
                return 200, body
            case "GET" | "HEAD", ["namespaces", name]:
                return 200, {"namespace": [name], "properties": catalog.load_namespace_properties(name)}
            case "POST", ["namespaces", name, "properties"]:
                done = catalog.update_namespace_properties(name, set(body["removals"]), body["updates"])
                return 200, {"removed": done.removed, "updated": done.updated, "missing": done.missing}
            case "GET", ["namespaces", name, "tables"]:
                return 200, {"identifiers": [{"namespace": list(table[:-1]), "name": table[-1]}
                                             for table in catalog.list_tables(name)]}
            case "POST", ["namespaces", name, "tables"]:
                assert body["stage-create"]
                metadata = new_table_metadata(
                    Schema.model_validate(body["schema"]), UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER,
                    f"file://{self.server.folder}/warehouse/{name}/{body['name']}", body["properties"])
                return 200, {"metadata": json.loads(metadata.model_dump_json())}
            case "GET" | "HEAD", ["namespaces", name, "tables", table]:
                return 200, _document(catalog.load_table((name, table)))
            case "DELETE", ["namespaces", name, "tables", table]:
                catalog.drop_table((name, table))
                return 204, None
            case "POST", ["namespaces", name, "tables", table]:
                return 200, _document(self._commit([_request(name, table, body)])[0])
            case "POST", ["tables", "rename"]:
                before, after = ((*body[end]["namespace"], body[end]["name"]) for end in ("source", "destination"))
                catalog.rename_table(before, after)
                return 204, None
            case "POST", ["transactions", "commit"] if self.server.transactions:
                wanted = [CommitTableRequest.model_validate(change) for change in body["table-changes"]]
                if any(one.type == "assert-create" for request in wanted for one in request.requirements):
                    raise Refused(400)  # as Apache Polaris
                self._commit(wanted)
                return 204, None
        raise Refused(404)

    def _endpoints(self) -> dict[str, list[str]]:
        """Also a server without transactions may leave them out: then it is an old one."""
        if not self.server.transactions:
            return {}
        return {"endpoints": [*map(str, DEFAULT_ENDPOINTS), "POST /v1/{prefix}/transactions/commit"]}

    def _commit(self, requests: list[CommitTableRequest]) -> list[Table]:
        """All of it or nothing: whether it can be done is seen before any of it is."""
        catalog, names = self.server.catalog, []
        for request in requests:
            names.append((*request.identifier.namespace.root, request.identifier.name))
            there = catalog.load_table(names[-1]).metadata if catalog.table_exists(names[-1]) else None
            for requirement in request.requirements:
                requirement.validate(there)
        for name, request in zip(names, requests, strict=True):
            metadata = new_table_metadata(Schema(), UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, "")
            named = Table(name, metadata, "", PyArrowFileIO(), catalog)  # of which a commit takes the name
            catalog.commit_table(named, request.requirements, request.updates)
        return [catalog.load_table(name) for name in names]


def _request(namespace: str, name: str, body: Any) -> CommitTableRequest:
    return CommitTableRequest.model_validate({**body, "identifier": {"namespace": [namespace], "name": name}})


def _document(table: Table) -> dict[str, Any]:
    return {"metadata-location": table.metadata_location, "metadata": json.loads(table.metadata.model_dump_json())}


def _error(error: Exception, status: int) -> dict[str, Any]:
    return {"error": {"message": str(error), "type": type(error).__name__, "code": status}}
