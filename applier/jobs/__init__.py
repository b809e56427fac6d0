"""The jobs: one package or module per job, and the parts that several of them share. A job prints nothing."""

__all__ = [
    "archive", "change_files", "changes", "compare", "diff", "doctor", "explain", "exporting", "guarded_sql",
    "history", "importing", "json_lines", "lake", "on_engine", "publish", "replay", "report", "rewrite", "server",
    "server_state", "show", "spark_source", "summary", "sync", "undo", "verify", "views",
]
