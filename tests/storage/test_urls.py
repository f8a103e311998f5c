from __future__ import annotations

import pickle

import pytest

from truckee.errors import InvalidUrlError
from truckee.storage.urls import Bucket, StoreKind, is_object_url, parse_object_url


@pytest.mark.parametrize(
    ("url", "bucket", "key"),
    [
        ("s3://b/x/t", Bucket(StoreKind.S3, "b"), "x/t"),
        ("s3a://b/x/t/", Bucket(StoreKind.S3, "b"), "x/t"),
        ("s3n://b", Bucket(StoreKind.S3, "b"), ""),
        ("S3A://b/", Bucket(StoreKind.S3, "b"), ""),
        ("s3a://b//x/./y/../t", Bucket(StoreKind.S3, "b"), "x/t"),
        ("s3a://b/a%20b/c=d:e@f", Bucket(StoreKind.S3, "b"), "a%20b/c=d:e@f"),
        ("gs://b_1/t", Bucket(StoreKind.GCS, "b_1"), "t"),
        (
            "abfss://c@acc.dfs.core.windows.net/t",
            Bucket(StoreKind.AZURE, "c", "acc.dfs.core.windows.net"),
            "t",
        ),
        (
            "wasbs://c@acc.blob.core.windows.net",
            Bucket(StoreKind.AZURE, "c", "acc.blob.core.windows.net"),
            "",
        ),
        ("az://c/t", Bucket(StoreKind.AZURE, "c"), "t"),
    ],
)
def test_a_url_is_a_bucket_and_a_key(url: str, bucket: Bucket, key: str) -> None:
    assert is_object_url(url)
    assert parse_object_url(url) == (bucket, key)


@pytest.mark.parametrize("url", ["s3a:///t", "s3:/b/t", "s3a://user@b/t", "hdfs://h/t", "b/t"])
def test_a_url_without_a_bucket_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrlError) as caught:
        parse_object_url(url)

    assert str(pickle.loads(pickle.dumps(caught.value))) == (
        f"[DELTA_INVALID_TABLE_URL] cannot open '{url}': the URL names no bucket\n"
        "hint: give a local path, or a URL that starts with file:, s3a://, gs:// or abfss://"
    )
