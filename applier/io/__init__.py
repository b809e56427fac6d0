"""Files and text at the edges: URIs resolved, files mapped and made durable, text made printable."""

__all__ = [
    "arrow_stream", "disk", "encryption", "ending", "mapping", "packing", "parquet_reading", "partial_copy",
    "plain_stream", "printable", "progress", "relayed", "relayed_kernel", "resolver", "transient", "typed_json",
]
