"""The process on each Spark node that forks its Python workers: it loads what they need once, before it forks.

Spark starts it by name (`spark.python.daemon.module`).
"""

from applier.engine.spark import forking, nursery


def main() -> None:
    """Have the driver's nursery serve, or preload and serve."""
    nursery.delegate_to_preforked()
    forking.preload()
    forking.serve()


if __name__ == "__main__":
    main()
