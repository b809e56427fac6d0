"""The options of jobs as values, and the registry of options and verbs, from which the command line, its pages and the
Python API are generated."""

from applier.options.changes import (
    ALL_COMMITS,
    ChangeFilesOptions,
    ChangesOptions,
    CommitRange,
    HistoryFilesOptions,
    SummaryOptions,
    UndoOptions,
)
from applier.options.replay import DoctorOptions, LogBounds, ReplayOptions, check_engine, check_target
from applier.options.snapshots import DiffOptions, ExplainOptions, ExportOptions, ImportOptions, RewriteOptions

__all__ = ["ALL_COMMITS", "ChangeFilesOptions", "ChangesOptions", "CommitRange", "DiffOptions", "DoctorOptions",
           "ExplainOptions", "ExportOptions", "HistoryFilesOptions", "ImportOptions", "LogBounds", "ReplayOptions",
           "RewriteOptions", "SummaryOptions", "UndoOptions", "check_engine", "check_target", "choosing", "kinds",
           "making", "option", "parquet", "reading", "running", "verbs"]
