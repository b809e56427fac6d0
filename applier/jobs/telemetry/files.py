"""Metrics files: `FILE.prom` in Prometheus' text format, for the textfile collector of its node exporter; any other
name as one JSON document. A file is replaced atomically, so a reader never sees half of it."""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import orjson

from applier.errors import TelemetryWarning, reason
from applier.jobs.telemetry.figures import Figure

_PROMETHEUS = ".prom"


def write_metrics(files: Sequence[str], job: str, output: str, figures: Sequence[Figure],
                  document: Mapping[str, Any]) -> None:
    """Replace each of the files. A file that cannot be written is a TelemetryWarning: the run is more important."""
    for file in files:
        text = prometheus(job, output, figures) if file.endswith(_PROMETHEUS) else _json(job, output, document)
        hidden = f"{file}.{uuid.uuid4().hex}"
        try:
            with open(hidden, "xb") as stream:
                stream.write(text)
            os.replace(hidden, file)
        except OSError as error:
            with suppress(OSError):
                os.unlink(hidden)
            warnings.warn(f"cannot write the metrics file {file}: {reason(error)}", TelemetryWarning, stacklevel=2)


def prometheus(job: str, output: str, figures: Sequence[Figure]) -> bytes:
    """Return figures in Prometheus' text format. Each sample has the label `output`, so that files of several runs in
    one directory do not clash."""
    known = sorted((figure for figure in figures if figure.value is not None), key=lambda figure: figure.name)
    lines = []
    for name, samples in groupby(known, key=lambda figure: f"applier_{job}_{figure.name}"):
        for number, sample in enumerate(samples):
            if not number:
                lines += [f"# HELP {name} {_escaped(sample.help)}", f"# TYPE {name} {sample.kind}"]
            labels = ",".join(f'{label}="{_quoted(text)}"'
                              for label, text in {"output": output, **sample.labels}.items())
            lines.append(f"{name}{{{labels}}} {sample.value}")
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


def _json(job: str, output: str, document: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"job": job, "output": output, **document},
                        option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
