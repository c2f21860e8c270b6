"""A Spark job over files and an Iceberg catalog, with no word of lineage in it: `shop_nightly.py FOLDER`."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main(folder: Path) -> None:
    spark = SparkSession.builder.appName("shop_nightly").getOrCreate()
    orders = spark.read.csv(str(folder / "orders.csv"), header=True, schema="order_id INT, customer_id INT, amount DOUBLE")
    orders.createOrReplaceTempView("orders_file")
    spark.sql("CREATE TABLE lake.shop.orders USING iceberg AS SELECT order_id, customer_id, amount FROM orders_file")
    spark.sql("CREATE TABLE lake.shop.spend (customer_id INT, spent DOUBLE) USING iceberg")
    spark.sql("INSERT INTO lake.shop.spend SELECT customer_id, sum(amount) AS spent FROM lake.shop.orders GROUP BY customer_id")
    spark.table("lake.shop.spend").write.parquet(str(folder / "spend_report"))
    spark.sql("CREATE TABLE orders_copy USING parquet AS SELECT order_id, amount FROM orders_file")
    spark.sparkContext.textFile(str(folder / "orders.csv")).map(len).saveAsTextFile(str(folder / "lengths"))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
