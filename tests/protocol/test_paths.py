from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.protocol.paths import (
    HIVE_DEFAULT_PARTITION,
    LogFileKind,
    checkpoint_path,
    checkpoint_v2_path,
    checksum_path,
    commit_path,
    decode_path,
    encode_path,
    hive_escape,
    is_absolute,
    parse_log_name,
    partition_directory,
    sidecar_path,
    split_partition_directory,
)
from values import checkpoint_part_path, compacted_path

UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (commit_path(7), LogFileKind.COMMIT),
        (checksum_path(7), LogFileKind.CHECKSUM),
        (checkpoint_path(7), LogFileKind.CHECKPOINT),
        (checkpoint_part_path(7, 2, 3), LogFileKind.CHECKPOINT_PART),
        (checkpoint_v2_path(7, UUID, "json"), LogFileKind.CHECKPOINT_V2),
        (checkpoint_v2_path(7, UUID, "parquet"), LogFileKind.CHECKPOINT_V2),
        (compacted_path(7, 9), LogFileKind.COMPACTED),
    ],
)
def test_names_that_are_written_are_read_back(path: str, kind: LogFileKind) -> None:
    found = parse_log_name(path)

    assert found is not None
    assert (found.kind, found.version) == (kind, 7)


def test_a_part_of_a_checkpoint_knows_its_place() -> None:
    found = parse_log_name("00000000000000000007.checkpoint.0000000002.0000000003.parquet")

    assert found is not None
    assert (found.part, found.parts, found.is_checkpoint) == (2, 3, True)


def test_compacted_commits_cover_both_ends() -> None:
    found = parse_log_name(compacted_path(7, 9))

    assert found is not None
    assert (found.version, found.end_version) == (7, 9)


def test_files_that_belong_to_no_version_are_known() -> None:
    names = ("_last_checkpoint", "_last_vacuum_info", sidecar_path(f"{UUID}.parquet"))

    kinds = [found.kind for name in names if (found := parse_log_name(name))]

    assert kinds == [
        LogFileKind.LAST_CHECKPOINT,
        LogFileKind.LAST_VACUUM_INFO,
        LogFileKind.SIDECAR,
    ]


def test_staged_commits_are_told_from_commits() -> None:
    found = parse_log_name(f"_staged_commits/00000000000000000007.{UUID}.json")

    assert found is not None
    assert found.kind is LogFileKind.STAGED_COMMIT


@pytest.mark.parametrize(
    "name",
    [
        "0000000000000000007.json",
        "000000000000000000007.json",
        "00000000000000000007.json.tmp",
        ".00000000000000000007.json.tmp",
        ".00000000000000000007.json.crc",
        "00000000000000000007.checkpoint.json",
        "00000000000000000007.checkpoint.abc.parquet",
        "00000000000000000007.checkpoint.0000000003.0000000002.parquet",
        "00000000000000000007.checkpoint.0000000000.0000000002.parquet",
        "00000000000000000009.00000000000000000007.compacted.json",
        "_sidecars/a.json",
        "_sidecars/.a.parquet",
        "_sidecars/a.parquet",
        f"{2**63:020d}.json",
        f"{1:020d}.{2**63:020d}.compacted.json",
        "١" * 20 + ".json",
        "elsewhere/00000000000000000007.json",
        "",
    ],
)
def test_other_names_mean_nothing(name: str) -> None:
    assert parse_log_name(name) is None


@pytest.mark.parametrize(
    ("value", "directory", "encoded"),
    [
        ("bar+%21", "c=bar+%2521", "c=bar+%252521"),
        ("a b", "c=a b", "c=a%20b"),
        ("11:11:11", "c=11%3A11%3A11", "c=11%253A11%253A11"),
        ("é", "c=é", "c=é"),
        (None, f"c={HIVE_DEFAULT_PARTITION}", f"c={HIVE_DEFAULT_PARTITION}"),
        ("", f"c={HIVE_DEFAULT_PARTITION}", f"c={HIVE_DEFAULT_PARTITION}"),
    ],
)
def test_a_partition_value_is_escaped_for_hive_and_then_for_the_uri(
    value: str | None, directory: str, encoded: str
) -> None:
    assert partition_directory(["c"], {"c": value}) == directory
    assert encode_path(directory) == encoded


def test_partition_directories_are_nested_in_the_order_of_columns() -> None:
    assert partition_directory(["b", "a=1"], {"a=1": "x/y", "b": "2"}) == "b=2/a%3D1=x%2Fy"


def test_hive_leaves_what_it_does_not_escape() -> None:
    assert hive_escape("} <>|`~é") == "} <>|`~é"
    assert hive_escape("\x01\x1f\x7f\"#%'*/:=?[\\]^{") == (
        "%01%1F%7F%22%23%25%27%2A%2F%3A%3D%3F%5B%5C%5D%5E%7B"
    )


def test_a_uri_encodes_spaces_and_controls_beyond_ascii_too() -> None:
    assert encode_path("a\u00a0b\u2028c\u0085d") == "a%C2%A0b%E2%80%A8c%C2%85d"
    assert encode_path('a"#<>?[\\]^`{|}\x7f') == ("a%22%23%3C%3E%3F%5B%5C%5D%5E%60%7B%7C%7D%7F")
    assert encode_path("c=d/a'b&e+f,g@h:i") == "c=d/a'b&e+f,g@h:i"


def test_a_colon_that_would_look_like_a_scheme_is_encoded() -> None:
    assert encode_path("a:b/c.parquet") == "a%3Ab/c.parquet"
    assert encode_path("s3://bucket/a b") == "s3://bucket/a%20b"


@pytest.mark.parametrize(
    ("encoded", "path"),
    [
        ("file:/x%20y/f", "/x y/f"),
        ("file:///x%20y/f", "/x y/f"),
        ("file://localhost/x/f", "/x/f"),
        ("/x%20y/f", "/x y/f"),
        ("s3a://bucket/a%20b", "s3a://bucket/a b"),
        ("abfss://c@a.dfs.core.windows.net/a%25b", "abfss://c@a.dfs.core.windows.net/a%b"),
        ("a%2525b", "a%25b"),
        ("a+b", "a+b"),
    ],
)
def test_a_path_is_decoded_exactly_once(encoded: str, path: str) -> None:
    assert decode_path(encoded) == path


def test_spellings_of_one_path_are_equal_once_decoded() -> None:
    spellings = ("c=%C3%A9/f.parquet", "c=é/f.parquet", "c=%c3%a9/f%2Eparquet")

    assert len({decode_path(spelling) for spelling in spellings}) == 1


def test_absolute_paths_are_told_from_relative_ones() -> None:
    assert [is_absolute(p) for p in ("/a", "s3a://b/c", "file:/a", "a/b", "a:b")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.property
@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_decoding_undoes_encoding(path: str) -> None:
    if path.startswith("//"):
        path = path.lstrip("/") or "a"

    assert decode_path(encode_path(path)) == path


@pytest.mark.property
@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_an_encoded_path_holds_nothing_that_a_uri_may_not(path: str) -> None:
    encoded = encode_path(path)

    assert not set(encoded) & set(' "#<>?[\\]^`{|}\x7f\n\t')
    assert path.startswith("/") or "://" in path or not is_absolute(encoded)


def test_a_path_that_ends_in_partition_folders_is_split_into_root_and_values() -> None:
    assert split_partition_directory("lake/t/day=2024-01-01/k=a%3Ab=c/") == (
        "lake/t",
        {"day": "2024-01-01", "k": "a:b=c"},
    )
    assert split_partition_directory("lake/t/k=__HIVE_DEFAULT_PARTITION__") == (
        "lake/t",
        {"k": None},
    )
    assert split_partition_directory("lake/k=1/t/") == ("lake/k=1/t/", {})
