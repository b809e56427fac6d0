"""Sources of GTIDs as bytes of one length: a UUID, the tag's length and the tag, or a MariaDB domain, then zeros."""

SOURCE_BYTES = 56
TAG_AT, MOST_TAG_BYTES = 16, 32
NO_SERVER = -1
"""The server of MySQL's GTIDs, which name none."""


def source_bytes(source: str | int) -> bytes:
    """The bytes of "uuid", "uuid:tag" or a domain."""
    if isinstance(source, int):
        return source.to_bytes(4, "little").ljust(SOURCE_BYTES, b"\0")
    uuid, _, tag = source.partition(":")
    return (bytes.fromhex(uuid.replace("-", "")) + bytes([len(tag)]) + tag.encode()).ljust(SOURCE_BYTES, b"\0")


def source_text(source: bytes) -> str:
    """A MySQL source's bytes as the servers write it: UUID, or UUID:tag."""
    digits = source[:TAG_AT].hex()
    uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    tag = source[TAG_AT + 1 : TAG_AT + 1 + source[TAG_AT]].decode("ascii", "replace")
    return f"{uuid}:{tag}" if tag else uuid


def domain_of(source: bytes) -> int:
    """The MariaDB domain that a source's bytes are."""
    return int.from_bytes(source[:4], "little")
