"""The registry of options: what is declared once reaches the jobs."""

import dataclasses

import pytest

from applier.options import (
    ChangeFilesOptions,
    ChangesOptions,
    DoctorOptions,
    ExplainOptions,
    ExportOptions,
    HistoryFilesOptions,
    ImportOptions,
    ReplayOptions,
    RewriteOptions,
    SummaryOptions,
    UndoOptions,
    verbs,
)
from applier.options.option import Where

JOBS = {
    "replay": (ReplayOptions, set()), "doctor": (DoctorOptions, set()), "import": (ImportOptions, set()),
    "export": (ExportOptions, {"as_of", "no_data", "data_only"}), "rewrite": (RewriteOptions, set()),
    "summary": (SummaryOptions, {"html"}), "explain": (ExplainOptions, set()),
    "changes": ((ChangesOptions, ChangeFilesOptions), {"table", "follow", "state", "every", "until_now", "batch_bytes",
                                                       "source", "defaults_file"}),
    "history": ((ChangesOptions, HistoryFilesOptions), {"table", "columns", "keys", "statements", "origins", "server",
                                                        "defaults_file"}),
    "undo": ((ChangesOptions, UndoOptions), {"until", "server", "defaults_file"}),
    "sync": (ReplayOptions, {"every", "iceberg", "delta", "change_data", "warehouse", "tag", "expire", "keep",
                             "until_now", "json_log", "ending"})}
"""The options of jobs, and what verbs take that these have not: it is for the verb itself, or another value of it."""
TOGETHER = {"tables": "filter", "ignore_tables": "filter", "keyring": "binlogs", "key_file": "binlogs",
            "key_file_secret": "binlogs"}


@pytest.mark.parametrize("name", JOBS)
def test_each_option_becomes_a_field_of_a_job(name):
    kinds, others = JOBS[name]
    [verb] = [verb for verb in verbs.COMMANDS if verb.name == name]
    fields = {field.name for kind in (kinds if isinstance(kinds, tuple) else (kinds,))
              for field in dataclasses.fields(kind)}
    for option in verb.options:
        for part in option.parts or (option,):
            if part.name in ("json", "progress"):
                continue
            field = TOGETHER.get(part.name, part.field_name)
            assert field in fields or field in others, (name, part.name)


@pytest.mark.parametrize("verb", verbs.COMMANDS, ids=lambda verb: verb.name)
def test_defaults_on_the_command_line_are_those_of_python(verb):
    """Where they differ, the registry says so: by the text of the same value, and for --engine."""
    for option in verb.options:
        if option.where is Where.EVERYWHERE and option.on_command_line is not option.default:
            assert option.name in ("every", "engine"), option.name


def test_a_manifest_records_what_is_not_at_its_default():
    plain = ReplayOptions(("log",), "out")
    assert plain.for_manifest() == {"zero_dates": "null"}
    chosen = dataclasses.replace(
        plain, unsigned_bigint="long", exec_mode="idempotent", define_from_log=True, type_conversions=frozenset(
            {"all_signed", "all_lossy"}), start_position=("b.000001", 4), stop_gtid="0-1-5", rewrites=(("a", "b"),),
        server_ids=(1, 2), witness="off", route="walk")
    assert list(chosen.for_manifest().items()) == [
        ("zero_dates", "null"), ("unsigned_bigint", "long"), ("exec_mode", "idempotent"), ("define_from_log", True),
        ("type_conversions", ["all_lossy", "all_signed"]), ("start_position", "b.000001:4"), ("stop_gtid", "0-1-5"),
        ("rewrite_db", ["a=b"]), ("server_ids", [1, 2])]
    assert "unsigned_bigint" not in dataclasses.replace(plain, unsigned_bigint="decimal").for_manifest()
