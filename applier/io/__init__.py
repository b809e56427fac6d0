"""Files and text at the edges: URIs resolved, files mapped and made durable, text made printable."""

__all__ = [
    "arrow_stream", "decrypting", "durable", "ending", "full_disk", "keys", "mapping", "mariadb_decrypting",
    "new_files", "packing", "parquet_reading", "partial_copy", "plain_stream", "printable", "progress", "relayed",
    "relayed_kernel", "resolver", "temporary", "transient", "typed_json",
]
