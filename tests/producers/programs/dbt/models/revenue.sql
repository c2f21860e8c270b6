with orders as (
    select * from {{ ref('stg_orders') }}
), customers as (
    select * from {{ ref('stg_customers') }}
)
select customers.country, sum(orders.amount) as revenue
from orders
join customers on orders.customer_id = customers.customer_id
group by customers.country
