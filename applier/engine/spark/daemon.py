"""The process on each Spark node that forks its Python workers: it loads what they need once, before it forks.

Spark starts it by name (`spark.python.daemon.module`).
"""

from applier.engine.spark import forking, prefork


def main() -> None:
    """Delegate to the daemon that the driver preforked, or else preload and serve."""
    prefork.delegate_to_preforked()
    forking.preload()
    forking.serve()


if __name__ == "__main__":
    main()
