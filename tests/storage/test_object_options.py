from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from truckee.storage import open_storage
from truckee.storage.object_options import store_config
from truckee.storage.urls import parse_object_url

S3 = "s3a://b/t"
AZURE = "abfss://c@acc.dfs.core.windows.net/t"
KEYS = {"fs.s3a.access.key": "id", "fs.s3a.secret.key": "secret"}


def config(url: str, options: Mapping[str, str]) -> Mapping[str, Any]:
    open_storage(url, options)  # obstore knows every name that we give it
    return store_config(parse_object_url(url).bucket, options).config


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {}),
        (KEYS, {"access_key_id": "id", "secret_access_key": "secret"}),
        ({"spark.hadoop.fs.s3a.session.token": "x"}, {"session_token": "x"}),
        (
            KEYS | {"spark.hadoop.fs.s3a.access.key": "overruled"},
            {"access_key_id": "id", "secret_access_key": "secret"},
        ),
        (
            KEYS | {"fs.s3a.bucket.b.access.key": "b's own"},
            {"access_key_id": "b's own", "secret_access_key": "secret"},
        ),
        ({"fs.s3a.bucket.other.access.key": "x"}, {}),
        (
            {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "aws_region": "r"},
            {"access_key_id": "id", "secret_access_key": "secret", "region": "r"},
        ),
        ({"fs.s3a.endpoint": "http://h:9"}, {"endpoint": "http://h:9"}),
        ({"fs.s3a.endpoint": "h:9/"}, {"endpoint": "https://h:9"}),
        (
            {"fs.s3a.endpoint": "h:9", "fs.s3a.connection.ssl.enabled": "false"},
            {"endpoint": "http://h:9"},
        ),
        (
            {"fs.s3a.endpoint": "http://h:9", "fs.s3a.path.style.access": "true"},
            {"endpoint": "http://h:9"},
        ),
        (
            {"fs.s3a.endpoint": "http://h:9", "fs.s3a.path.style.access": "false"},
            {"endpoint": "http://b.h:9", "virtual_hosted_style_request": True},
        ),
        ({"fs.s3a.endpoint": "s3.amazonaws.com"}, {}),
        ({"fs.s3a.endpoint": "https://s3.eu-west-3.amazonaws.com"}, {"region": "eu-west-3"}),
        (
            {"fs.s3a.endpoint": "s3.eu-west-3.amazonaws.com", "fs.s3a.endpoint.region": "eu-x"},
            {"region": "eu-x"},
        ),
        (
            {
                "fs.s3a.aws.credentials.provider": (
                    "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
                )
            },
            {"skip_signature": True},
        ),
        ({"fs.s3a.encryption.algorithm": "AES256"}, {"server_side_encryption": "AES256"}),
        (
            {"fs.s3a.encryption.algorithm": "SSE-KMS", "fs.s3a.encryption.key": "arn"},
            {"server_side_encryption": "aws:kms", "sse_kms_key_id": "arn"},
        ),
        ({"versionAsOf": "3", "path": "x"}, {}),
    ],
)
def test_s3_options_are_translated(
    options: Mapping[str, str], expected: Mapping[str, object]
) -> None:
    assert config(S3, options) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {}),
        ({"fs.azure.account.key.acc.dfs.core.windows.net": "a2V5"}, {"account_key": "a2V5"}),
        ({"fs.azure.account.key.acc.blob.core.windows.net": "a2V5"}, {"account_key": "a2V5"}),
        ({"fs.azure.account.key.other.dfs.core.windows.net": "a2V5"}, {}),
        ({"fs.azure.account.key": "a2V5"}, {"account_key": "a2V5"}),
        ({"fs.azure.sas.c.acc.blob.core.windows.net": "sv=1&sig=x"}, {"sas_key": "sv=1&sig=x"}),
        ({"AZURE_STORAGE_ACCOUNT_KEY": "a2V5"}, {"account_key": "a2V5"}),
        (
            {
                "fs.azure.account.oauth2.client.id.acc.dfs.core.windows.net": "id",
                "fs.azure.account.oauth2.client.secret.acc.dfs.core.windows.net": "secret",
                "fs.azure.account.oauth2.client.endpoint.acc.dfs.core.windows.net": (
                    "https://login.microsoftonline.com/tenant/oauth2/token"
                ),
            },
            {
                "client_id": "id",
                "client_secret": "secret",
                "tenant_id": "tenant",
                "authority_host": "https://login.microsoftonline.com",
            },
        ),
    ],
)
def test_azure_options_are_translated(
    options: Mapping[str, str], expected: Mapping[str, object]
) -> None:
    assert config(AZURE, options) == {"account_name": "acc", **expected}


def test_azure_in_other_clouds_has_other_hosts() -> None:
    assert config("abfss://c@acc.dfs.core.chinacloudapi.cn/t", {}) == {
        "account_name": "acc",
        "endpoint": "https://acc.blob.core.chinacloudapi.cn",
    }
    assert config("abfss://c@acc.dfs.fabric.microsoft.com/t", {}) == {
        "account_name": "acc",
        "use_fabric_endpoint": True,
    }


def test_gcs_options_are_translated() -> None:
    bucket = parse_object_url("gs://b/t").bucket
    options = {"spark.hadoop.google.cloud.auth.service.account.json.keyfile": "/k.json"}

    assert store_config(bucket, options).config == {"service_account": "/k.json"}
    assert config("gs://b/t", {"fs.gs.auth.type": "UNAUTHENTICATED"}) == {"skip_signature": True}


def test_plain_http_is_allowed_where_it_is_asked_for() -> None:
    bucket = parse_object_url(S3).bucket

    assert store_config(bucket, {"fs.s3a.endpoint": "http://h"}).client["allow_http"]
    assert store_config(bucket, {"AWS_ENDPOINT_URL": "http://h"}).client["allow_http"]
    assert store_config(bucket, {"AWS_ALLOW_HTTP": "true"}).client["allow_http"]
    assert not store_config(bucket, {"fs.s3a.endpoint": "https://h"}).client["allow_http"]


def test_requests_have_an_end_that_settings_choose() -> None:
    bucket = parse_object_url(S3).bucket
    settings = {"SPARK.truckee.storage.timeout": "5", "spark.truckee.storage.retryTimeout": "9"}

    usual, chosen = store_config(bucket, {}), store_config(bucket, settings)

    assert (usual.client["timeout"].seconds, usual.retry["retry_timeout"].seconds) == (30, 60)
    assert (chosen.client["timeout"].seconds, chosen.retry["retry_timeout"].seconds) == (5, 9)
