-- Built on a source.
select id as customer_id, country from {{ source('raw', 'raw_customers') }}
