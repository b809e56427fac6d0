"""Properties of Parquet files, as --parquet takes them, a manifest records them, and FileSettings has them; and what
tables' files are divided by, as --partition takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from applier.errors import UsageError
from applier.option_texts import parse_size
from applier.schema.table_filter import one_table
from applier.snapshot import COMPRESSIONS

if TYPE_CHECKING:
    from applier.snapshot.files.file_settings import FileSettings

OPTION = "parquet"
"""The name in a manifest's options."""
_LARGEST_GROUP = 1 << 30
"""A task has a row group in memory."""


def _one_of(values: Mapping[str, Any]) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        if text not in values:
            raise UsageError(f"{text!r} is not a valid value", hint=f"it is one of {', '.join(values)}")
        return values[text]
    return parse


def _level(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise UsageError(f"{text!r} is not a number", hint="levels go from 1 to 22 (zstd), from 1 to 9 (gzip)")
    return int(text)


def _group_bytes(text: str) -> int:
    if (size := parse_size(text)) > _LARGEST_GROUP:
        raise UsageError(f"{text!r} is too large", hint="a row group has at most 1G, which a task has in memory")
    return size


def _bloom_filters(text: str) -> bool:
    wanted: bool = _one_of({"keys": True, "none": False})(text)
    if wanted:
        import pyarrow.parquet as pq

        if "bloom_filter_options" not in signature(pq.ParquetWriter).parameters:
            raise UsageError("the installed pyarrow cannot write bloom filters", hint="install pyarrow 24 or newer")
    return wanted


PROPERTIES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "compression": ("compression", _one_of({codec: codec for codec in COMPRESSIONS})),
    "compression-level": ("compression_level", _level),
    "row-group-size": ("row_group_bytes", _group_bytes),
    "page-index": ("page_index", _one_of({"yes": True, "no": False})),
    "bloom-filter": ("bloom_filters", _bloom_filters),
}
"""By name: the field of FileSettings, and how a value is parsed."""


def parse_parquet(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse properties of Parquet files, NAME=VALUE each; of two with one name the last one counts. Raises UsageError.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("_", "-")
        if not equals or name not in PROPERTIES:
            raise UsageError(f"--parquet {text!r} is not a property of Parquet files",
                             hint=f"write NAME=VALUE; the names are {', '.join(PROPERTIES)}")
        found[name] = value.strip()
        try:
            PROPERTIES[name][1](found[name])
        except UsageError as error:
            raise UsageError(f"--parquet {name}: {error.message}", hint=error.hint) from None
    return tuple(found.items())


def parse_partitions(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse what tables' files are divided by, DB.TABLE=TRANSFORM(COLUMN) each; of two for one table the last one
    counts. Raises UsageError."""
    from applier.snapshot.files.partitions import Partition

    found: dict[str, str] = {}
    for text in texts:
        name, equals, transform = text.partition("=")
        if not equals:
            raise UsageError(f"--partition {text!r} does not say of which table",
                             hint="write DB.TABLE=TRANSFORM(COLUMN), as 'shop.orders=month(created_at)'")
        found[".".join(one_table(name.strip()))] = str(Partition.parse(transform))
    return tuple(found.items())


def parquet_onto(base: Mapping[str, Any], given: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the properties of a replay onto a base with these options: those that are given, and the base's others.
    Raises UsageError."""
    listed = base.get(OPTION, [])
    kept = dict(parse_parquet(map(str, listed if isinstance(listed, list) else [listed])))
    if "compression" in dict(given):
        kept.pop("compression-level", None)
    return tuple((kept | dict(given)).items())


def file_settings(parquet: tuple[tuple[str, str], ...], **others: Any) -> FileSettings:
    """Return the settings of files with these properties, and others by fields. Raises UsageError for a compression
    level that the codec does not have."""
    from applier.snapshot.files.file_settings import FileSettings

    settings = FileSettings(**{PROPERTIES[name][0]: PROPERTIES[name][1](value) for name, value in parquet}, **others)
    levels, level = COMPRESSIONS[settings.compression], settings.compression_level
    if level is not None and (levels is None or level not in levels):
        raise UsageError(f"--parquet compression-level: {settings.compression} has no level {level}",
                         hint="zstd has the levels 1 to 22, gzip 1 to 9, other codecs none")
    return settings
