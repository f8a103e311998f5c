{% snapshot orders_history %}
{{ config(target_schema='shop', unique_key='id', strategy='timestamp', updated_at='updated_at', file_format='delta') }}
select * from {{ ref('orders') }}
{% endsnapshot %}
