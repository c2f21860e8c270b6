"""A DAG over PostgreSQL: one task makes a table, one fills it, one fails in the database, one does no SQL."""

import datetime as dt

from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG

with DAG("shop_daily", start_date=dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc), schedule=None, catchup=False):
    create = SQLExecuteQueryOperator(task_id="create_daily", conn_id="shop", sql="CREATE TABLE daily (customer_id INT, spent NUMERIC)")
    load = SQLExecuteQueryOperator(
        task_id="load_daily",
        conn_id="shop",
        sql="INSERT INTO daily SELECT customer_id, sum(amount) AS spent FROM orders GROUP BY customer_id",
    )
    notify = PythonOperator(task_id="notify", python_callable=lambda: None)
    broken = SQLExecuteQueryOperator(
        task_id="broken", conn_id="shop", sql="INSERT INTO daily SELECT no_such_column AS spent FROM orders", trigger_rule="all_done"
    )
    create >> load >> notify >> broken
