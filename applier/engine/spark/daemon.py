"""The process on each Spark node that forks its Python workers: it loads what they need once, before it forks.

Spark starts it by its name (spark_doors.SETTINGS).
"""

from applier.engine.spark import forking, prefork, spark_doors


def main() -> None:
    """Delegate to the daemon that the driver preforked, or else preload and serve."""
    prefork.delegate_to_preforked()
    forking.preload()
    spark_doors.serve_forks()


if __name__ == "__main__":
    main()
