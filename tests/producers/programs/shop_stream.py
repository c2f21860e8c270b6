"""A Spark stream from files to files, with no word of lineage in it: `shop_stream.py FOLDER`."""

import sys

from pyspark.sql import SparkSession


def main(folder: str) -> None:
    spark = SparkSession.builder.appName("shop_stream").getOrCreate()
    orders = spark.readStream.schema("order_id INT, amount DOUBLE").json(f"{folder}/landing")
    written = orders.writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
    written.start(f"{folder}/orders").awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
