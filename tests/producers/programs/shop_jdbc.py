"""A Spark job over a database, with no word of lineage in it: `shop_jdbc.py FOLDER URL USER`."""

import sys

from pyspark.sql import SparkSession, functions


def main(folder: str, url: str, user: str) -> None:
    spark = SparkSession.builder.appName("shop_jdbc").getOrCreate()
    login = {"user": user, "driver": "org.postgresql.Driver"}
    orders = spark.read.jdbc(url, "public.orders", properties=login)
    spent = orders.groupBy("customer_id").agg(functions.sum("amount").alias("spent"))
    spent.write.jdbc(url, "public.spend", mode="append", properties=login)
    query = "SELECT order_id, amount FROM public.orders WHERE amount > 6"
    spark.read.format("jdbc").options(url=url, query=query, **login).load().write.parquet(f"{folder}/big_orders")
    big = spark.read.schema("order_id INT, amount DOUBLE").parquet(f"{folder}/big_orders")
    big.write.jdbc(url, "public.big_orders", mode="overwrite", properties=login)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
