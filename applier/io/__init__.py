"""Files and text at the edges: URIs resolved, files mapped and made durable, text made printable."""

__all__ = ["durable", "mapping", "printable", "progress", "resolver", "typed_json"]
