-- Fails in the database: there is no such column.
select no_such_column from {{ ref('stg_orders') }}
