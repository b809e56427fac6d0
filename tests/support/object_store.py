"""An object store on this machine, S3 as moto's server plays it."""

import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from tests.support.child_processes import end_with_the_tests

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1",
               "AWS_ALLOW_HTTP": "true"}


@contextmanager
def object_store(*buckets: str) -> Iterator[str]:
    """The environment in which s3:// is the server, with these buckets; gives the server's address."""
    endpoint = _server()
    for bucket in buckets:
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{bucket}", method="PUT"))
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (ENVIRONMENT | {"AWS_ENDPOINT_URL": endpoint}).items():
                patch.setenv(name, value)
            yield endpoint
    finally:
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/moto-api/reset", method="POST"))


@cache
def _server() -> str:
    """The address of a server that lives as long as this process: a start costs two CPU seconds."""
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              preexec_fn=end_with_the_tests)
    assert server.stderr is not None
    endpoint = next(found[0] for line in server.stderr if (found := re.search(r"http://[\d.]+:\d+", line)))
    threading.Thread(target=server.stderr.read, daemon=True).start()  # its log, which nobody reads
    return endpoint
