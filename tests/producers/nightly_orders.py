"""An ordinary PySpark job, with no word of lineage in it: `nightly_orders.py FOLDER`."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f


def main(folder: Path) -> None:
    spark = SparkSession.builder.appName("nightly_orders").getOrCreate()
    orders = spark.read.csv(str(folder / "orders.csv"), header=True, schema="order_id INT, customer_id INT, amount DOUBLE, note STRING")
    customers = spark.read.csv(str(folder / "customers.csv"), header=True, schema="customer_id INT, country STRING, email STRING")
    revenue = orders.join(customers, on="customer_id", how="inner").groupBy("country").agg(f.sum("amount").alias("revenue"))
    revenue.write.parquet(str(folder / "revenue"))
    taxed = spark.read.schema("country STRING, revenue DOUBLE").parquet(str(folder / "revenue"))
    taxed.select("country", (f.col("revenue") * 1.19).alias("gross")).write.csv(str(folder / "report"))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
