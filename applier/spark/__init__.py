"""The only folder that imports pyspark: session and stages."""
