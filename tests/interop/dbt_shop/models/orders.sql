{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}

select id, status, amount, updated_at
from {{ ref('raw_orders') }}
{% if is_incremental() %}
where updated_at > (select max(updated_at) from {{ this }})
{% endif %}
