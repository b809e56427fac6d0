"""Where files are: paths and uris, what lies below a folder, and that nothing else resolves them."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import applier
from applier.errors import StoreUnavailable, UsageError
from applier.io import resolver
from applier.io.resolver import below, folder_of, is_far, is_uri, join, resolve


def test_a_path_is_what_has_no_scheme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("a", "./a", "a/", "x:y://z", "file:/etc/passwd", "a://b"[1:], "1a://b"):
        filesystem, inner = resolve(path)
        assert filesystem.type_name == "local" and (inner.startswith(str(tmp_path)) or path.startswith("/")), path
    assert not is_uri("file:/x") and is_uri("file:///x") and not is_far("file:///x") and is_far("s3://x")
    assert resolve(f"file://{tmp_path}/")[1] == str(tmp_path)


@pytest.mark.parametrize("location", ["foo://x", "a://b", "file://host/x", "s3://b/a b", "x\0y", "a\udcff", "abfs://x",
                                      "file:///a b"])
def test_what_cannot_be_opened(location):
    with pytest.raises(UsageError):
        resolve(location)


@pytest.mark.parametrize("location", ["s3://KEY:pass+word@b/x", "s3://KEY:pass/wo%2Frd@b/x", "s3://:password@b",
                                      "abfs://:password@account.blob.core.windows.net/x"])
def test_a_password_in_a_uri_is_refused_and_not_repeated(location):
    """Lists of processes, logs and manifests would show it."""
    with pytest.raises(UsageError) as refused:
        applier.replay(location, "out")
    assert "pass" not in str(refused.value).replace("a password", "")
    with pytest.raises(UsageError, match="which process lists"):
        resolve(location)


def test_other_signs_of_a_uri_are_no_password():
    for location in ("s3://bucket/a:b@c?region=eu", "s3://bucket?endpoint_override=localhost:9000&scheme=http&region=x@y"):
        try:
            resolve(location)
        except UsageError as refused:
            assert "password" not in str(refused)


@pytest.mark.parametrize("name", ["a", "a b/c#d", "100%/%2F", "x?y=z", "-rf/é"])
def test_a_name_in_a_folder_is_what_it_is(name, tmp_path):
    """As a path and as a uri, which has signs of its own."""
    for folder in (str(tmp_path), f"file://{tmp_path}", f"{tmp_path}/"):
        assert resolve(join(folder, name))[1] == f"{tmp_path}/{name}"
        assert resolve(folder_of(join(folder, name)))[1] == str(Path(f"{tmp_path}/{name}").parent)
    assert join("s3://bucket/x?region=eu", "y") == "s3://bucket/x/y?region=eu"
    assert folder_of("s3://bucket/x/y?region=eu") == "s3://bucket/x?region=eu"
    assert folder_of("y") == "."


def test_what_lies_below_a_folder(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "file").write_text("x")
    (tmp_path / "secret").write_text("x")
    for name, target in (("out", "../secret"), ("up", ".."), ("whole", str(tmp_path)), ("own", "deep"), ("same",
                                                                                                         "file")):
        (tmp_path / "in" / name).symlink_to(target)
    (tmp_path / "link").symlink_to("in")
    for folder in (f"{tmp_path}/in", f"file://{tmp_path}/in", f"{tmp_path}/link"):
        for name in ("file", "deep/new", "own/new", "same", "./file", "s3:/x"):
            assert resolve(below(folder, name))[1].removeprefix(resolve(folder)[1] + "/").removeprefix("./") \
                == name.removeprefix("./")
        for name in ("out", "up/secret", "whole/secret", "../secret", "deep/../../secret", "/etc/passwd", "", ".",
                     f"file://{tmp_path}/in/file", "s3://bucket/x", "a\0", "\udcff"):
            with pytest.raises(UsageError):
                below(folder, name)


def test_nothing_else_makes_file_systems_of_uris():
    """One rule for all verbs: whoever wants a file asks the resolver."""
    root = Path(applier.__file__).parent
    found = [str(path.relative_to(root)) for path in root.rglob("*.py")
             if re.search(r"from_uri|LocalFileSystem\(\)|[\"']://[\"']|startswith\([\"'](s3|file|gs|hdfs):",
                          path.read_text())]
    assert found == ["io/resolver.py"]


class Answers(BaseHTTPRequestHandler):
    """A store that answers each request with `status`, and counts them."""

    status, asked = 0, 0

    def answer(self):
        type(self).asked += 1
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


@pytest.fixture
def answering():
    """The address of such a store."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Answers.asked = 0
    yield f"127.0.0.1%3A{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("status, error", [(401, UsageError), (503, StoreUnavailable)])
def test_google_is_asked_once_whether_it_can_be_reached(answering, monkeypatch, status, error):
    """Its client would try for a quarter of an hour."""
    monkeypatch.setattr(Answers, "status", status)
    monkeypatch.setattr(resolver, "PROBE_SECONDS", 0.1)
    with pytest.raises(error) as caught:
        resolver.resolve(f"gs://anonymous@bucket/logs?scheme=http&endpoint_override={answering}")
    assert Answers.asked == 1 and "\n" not in str(caught.value)


def test_what_google_serves_is_asked_for_no_more(answering, monkeypatch):
    monkeypatch.setattr(Answers, "status", 403)  # of this path, maybe
    for name in ("a", "b"):
        _, path = resolver.resolve(f"gs://anonymous@bucket/{name}?scheme=http&endpoint_override={answering}")
        assert path == f"bucket/{name}"
    assert Answers.asked == 1


def test_azure_without_credentials_is_refused_in_a_line(answering):
    place = f"blob_storage_authority={answering}&dfs_storage_authority={answering}&enable_tls=false"
    with pytest.raises(UsageError, match=r"cannot reach abfs://logs@account.*AZURE_CLIENT_ID") as caught:
        resolver.resolve(f"abfs://logs@account.dfs.core.windows.net/binlogs?{place}")
    assert "\n" not in str(caught.value)
