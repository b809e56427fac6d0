"""What every call of a public function goes through: its arguments are checked and become a job's options."""

__all__ = ["arguments", "change_logs", "checked", "job_options", "public"]
