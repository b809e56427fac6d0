from keysearch import kernel_cache


def test_what_compiled_code_depends_on(tmp_path):
    """A kernel holds the constants that it names, and they those that they are made of, wherever they stand."""
    package = tmp_path / "applier"
    package.mkdir()
    for name, text in {
        "walk": "from applier import fields\nfrom applier.layout import (\n    WIDTH,\n)\n\n@kernel\ndef f(): ...",
        "layout": "from applier.sizes import BYTES\nWIDTH = 8 * BYTES", "sizes": "BYTES = 2", "fields": "FIRST = 0",
        "caller": "from applier.walk import f", "helper": "@inline\ndef help(): ...",
    }.items():
        (package / f"{name}.py").write_text(text)
    assert list(kernel_cache.kernel_sources(tmp_path)) == [
        f"applier.{name}" for name in ("fields", "helper", "layout", "sizes", "walk")]


def test_the_directory_is_of_the_constants_too(monkeypatch):
    sources = {"applier.layout": b"WIDTH = 8"}
    monkeypatch.setattr(kernel_cache, "kernel_sources", lambda root: sources)
    before = kernel_cache.directory()
    assert kernel_cache.directory() == before
    sources["applier.layout"] = b"WIDTH = 16"
    assert kernel_cache.directory() != before
