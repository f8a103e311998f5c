{{ config(materialized='table', partition_by='day', tblproperties={'delta.enableChangeDataFeed': 'true'}) }}

select to_date(updated_at) as day, count(*) as orders, sum(amount) as amount
from {{ ref('orders') }}
group by 1
