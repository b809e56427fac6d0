"""Work on Spark: session and stages. Beside jobs/spark_source the only folder that imports pyspark."""

__all__ = ["executor", "java", "running", "session", "spark_private", "stages"]
