"""Spark's options for object stores, translated to those of obstore.

Spark users set Hadoop's `fs.*` keys, with or without `spark.hadoop.` before them, and S3's also
for a single bucket (`fs.s3a.bucket.<name>.*`). The names of obstore and delta-rs are accepted too:
`aws_access_key_id`, `AZURE_STORAGE_ACCOUNT_KEY`, `google_service_account`. Other options are
ignored, because they may be a reader's. obstore takes what is missing from the environment, or
from the machine's own identity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from truckee.storage.read_bounds import StorageLimits
from truckee.storage.urls import Bucket, StoreKind

_RETRIES = 7  # as in Hadoop: an endpoint that is down is reported in seconds, not minutes

_NATIVE_PREFIX = {StoreKind.S3: "aws_", StoreKind.GCS: "google_", StoreKind.AZURE: "azure_"}
# One name for each setting that Hadoop also has, so that it is set only once.
_NATIVE_NAMES = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "aws_region": "region",
    "aws_endpoint": "endpoint",
    "aws_endpoint_url": "endpoint",
    "aws_allow_http": "allow_http",
    "azure_storage_account_name": "account_name",
    "azure_storage_account_key": "account_key",
    "azure_storage_sas_token": "sas_key",
    "azure_client_id": "client_id",
    "azure_client_secret": "client_secret",
    "azure_tenant_id": "tenant_id",
    "azure_allow_http": "allow_http",
    "google_service_account": "service_account",
}

_S3_NAMES = {
    "access.key": "access_key_id",
    "secret.key": "secret_access_key",
    "session.token": "session_token",
    "endpoint.region": "region",
}
_S3_ENCRYPTION = {
    "AES256": "AES256",
    "SSE-KMS": "aws:kms",
    "DSSE-KMS": "aws:kms:dsse",
    "SSE-C": "sse-c",
}
_AZURE_NAMES = {
    "fs.azure.account.key": "account_key",
    "fs.azure.account.oauth2.client.id": "client_id",
    "fs.azure.account.oauth2.client.secret": "client_secret",
    "fs.azure.account.oauth2.msi.tenant": "tenant_id",
    "fs.azure.sas.fixed.token": "sas_key",
}
_GCS_NAMES = {
    "google.cloud.auth.service.account.json.keyfile": "service_account",
    "fs.gs.auth.service.account.json.keyfile": "service_account",
    "fs.gs.storage.root.url": "base_url",
}

_AWS_ENDPOINT = re.compile(r"(?:https?://)?s3(?:[.-](?P<region>[a-z0-9-]+))?\.amazonaws\.com/?")
_AZURE_LOGIN = re.compile(r"(?P<host>https?://[^/]+)/(?P<tenant>[^/]+)/oauth2/.*")


class StoreConfig(NamedTuple):
    """The configuration with which obstore opens a bucket."""

    config: Mapping[str, Any]
    client: Mapping[str, Any]
    retry: Mapping[str, Any]


def store_config(bucket: Bucket, options: Mapping[str, str]) -> StoreConfig:
    """Return obstore's configuration for a bucket, from a user's options."""
    plain = _without_spark_prefix(options)
    match bucket.kind:
        case StoreKind.S3:
            config = _s3_config(bucket, plain)
        case StoreKind.AZURE:
            config = _azure_config(bucket, plain)
        case StoreKind.GCS:
            config = _gcs_config(plain)
    config |= _native_config(bucket.kind, plain)
    allow_http = _is_true(str(config.pop("allow_http", "false"))) or any(
        str(value).startswith("http://") for value in config.values()
    )
    retries = int(plain.get("fs.s3a.retry.limit", _RETRIES))
    limits = StorageLimits.of(options)
    client = {"timeout": timedelta(seconds=limits.timeout_s), "allow_http": allow_http}
    retry_timeout = timedelta(seconds=limits.retry_timeout_s)
    return StoreConfig(config, client, {"max_retries": retries, "retry_timeout": retry_timeout})


def _native_config(kind: StoreKind, options: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that already have obstore's names."""
    prefix = _NATIVE_PREFIX[kind]
    native = {k.lower(): v for k, v in options.items() if k.lower().startswith(prefix)}
    return {_NATIVE_NAMES.get(k, k): v for k, v in native.items()}


def _without_spark_prefix(options: Mapping[str, str]) -> dict[str, str]:
    prefixed = {k: v for k, v in options.items() if k.startswith("spark.hadoop.")}
    plain = {k: v for k, v in options.items() if k not in prefixed}
    return {k.removeprefix("spark.hadoop."): v for k, v in prefixed.items()} | plain


def _s3_config(bucket: Bucket, options: Mapping[str, str]) -> dict[str, Any]:
    general = _below("fs.s3a.", options)
    of_bucket = _below(f"fs.s3a.bucket.{bucket.name}.", options)
    s3a = {k: v for k, v in (general | of_bucket).items() if v}
    config: dict[str, Any] = {_S3_NAMES[k]: v for k, v in s3a.items() if k in _S3_NAMES}
    if "AnonymousAWSCredentialsProvider" in s3a.get("aws.credentials.provider", ""):
        config["skip_signature"] = True
    return config | _s3_endpoint(bucket, s3a) | _s3_encryption(s3a)


def _s3_endpoint(bucket: Bucket, s3a: Mapping[str, str]) -> dict[str, Any]:
    """Return endpoint, region and style of address.

    An endpoint of AWS itself only gives the region. Elsewhere the bucket is part of the path, which
    works with every store and bucket name, unless the user sets it otherwise.
    """
    endpoint = s3a.get("endpoint", "").rstrip("/")
    in_host = s3a.get("path.style.access", "true").lower() == "false"
    style = {"virtual_hosted_style_request": True} if in_host else {}
    at_aws = _AWS_ENDPOINT.fullmatch(endpoint)
    if not endpoint or at_aws:
        told = {"region": at_aws["region"]} if at_aws and at_aws["region"] else {}
        return style | ({} if "endpoint.region" in s3a else told)
    scheme, _, host = endpoint.rpartition("://")
    if not scheme:
        scheme = "https" if _is_true(s3a.get("connection.ssl.enabled", "true")) else "http"
    if in_host and not host.startswith(f"{bucket.name}."):
        host = f"{bucket.name}.{host}"
    return style | {"endpoint": f"{scheme}://{host}"}


def _s3_encryption(s3a: Mapping[str, str]) -> dict[str, Any]:
    named = s3a.get("encryption.algorithm", s3a.get("server-side-encryption-algorithm", ""))
    key = s3a.get("encryption.key", s3a.get("server-side-encryption.key"))
    algorithm = _S3_ENCRYPTION.get(named.upper())
    if algorithm is None:
        return {}
    config = {"server_side_encryption": algorithm}
    if key and algorithm != "AES256":
        config["sse_customer_key_base64" if algorithm == "sse-c" else "sse_kms_key_id"] = key
    return config


def _azure_config(bucket: Bucket, options: Mapping[str, str]) -> dict[str, Any]:
    suffixes = [*(f".{host}" for host in _azure_hosts(bucket)), ""]

    def value(name: str) -> str | None:
        return next((options[name + s] for s in suffixes if options.get(name + s)), None)

    found = {ours: value(name) for name, ours in _AZURE_NAMES.items()}
    config: dict[str, Any] = {k: v for k, v in found.items() if v is not None}
    sas_key = value(f"fs.azure.sas.{bucket.name}")
    if sas_key:
        config["sas_key"] = sas_key
    login = _AZURE_LOGIN.fullmatch(value("fs.azure.account.oauth2.client.endpoint") or "")
    if login:
        config |= {"authority_host": login["host"], "tenant_id": login["tenant"]}
    return config | _azure_account(bucket)


def _azure_hosts(bucket: Bucket) -> list[str]:
    """Return the account's host as in the URL, and the host of its other interface."""
    if bucket.host is None:
        return []
    other = {"dfs": "blob", "blob": "dfs"}
    account, _, rest = bucket.host.partition(".")
    interface, _, domain = rest.partition(".")
    return [bucket.host, f"{account}.{other.get(interface, interface)}.{domain}"]


def _azure_account(bucket: Bucket) -> dict[str, Any]:
    if bucket.host is None:
        return {}
    account, _, rest = bucket.host.partition(".")
    _, _, domain = rest.partition(".")
    config: dict[str, Any] = {"account_name": account}
    if domain == "fabric.microsoft.com":
        config["use_fabric_endpoint"] = True
    elif domain != "core.windows.net":
        config["endpoint"] = f"https://{account}.blob.{domain}"
    return config


def _gcs_config(options: Mapping[str, str]) -> dict[str, Any]:
    config: dict[str, Any] = {
        ours: options[name] for name, ours in _GCS_NAMES.items() if options.get(name)
    }
    if options.get("fs.gs.auth.type", "").upper() == "UNAUTHENTICATED":
        config["skip_signature"] = True
    return config


def _below(prefix: str, options: Mapping[str, str]) -> dict[str, str]:
    return {k.removeprefix(prefix): v for k, v in options.items() if k.startswith(prefix)}


def _is_true(text: str) -> bool:
    return text.strip().lower() in ("true", "1", "yes")
