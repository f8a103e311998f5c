from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from contracts.storage import SharedStorageContract
from s3_server import S3Server
from truckee.errors import (
    CredentialsNotFoundError,
    StorageError,
    StoragePermissionError,
    WriteOutcomeUnknownError,
)
from truckee.storage import ObjectStoreStorage, Storage, open_storage

_tables = itertools.count()


@pytest.fixture
def storage(s3: S3Server) -> Storage:
    return open_storage(s3.url(f"tables/t{next(_tables)}"), s3.options)


class TestObjectStoreStorage(SharedStorageContract):
    pass


def test_the_root_is_what_the_user_wrote(s3: S3Server) -> None:
    for url in ("s3://bucket/a/t", "s3a://bucket/a/t", "s3n://bucket/a/t"):
        storage = open_storage(f"{url}/", s3.options)
        storage.write("x", url.encode())

        assert storage.root == url
        assert open_storage("s3a://bucket/a", s3.options).read("t/x") == url.encode()


def test_a_table_can_be_a_whole_bucket(s3: S3Server) -> None:
    storage = open_storage("s3a://bucket", s3.options)
    storage.put_if_absent("_delta_log/0", b"1")

    assert [f.path for f in storage.list_from("_delta_log/0")] == ["_delta_log/0"]
    assert storage.read("s3://bucket/_delta_log/0") == b"1"
    assert storage.read("/_delta_log/0") == b"1"


def test_a_put_whose_answer_was_lost_succeeds(storage: Storage, s3: S3Server) -> None:
    s3.lose_answers(1)

    storage.put_if_absent("_delta_log/0", b"mine")

    assert storage.read("_delta_log/0") == b"mine"


def test_a_put_that_lost_both_race_and_answer_fails(storage: Storage, s3: S3Server) -> None:
    storage.put_if_absent("_delta_log/0", b"same bytes")
    s3.lose_answers(1)

    with pytest.raises(FileExistsError):
        storage.put_if_absent("_delta_log/0", b"same bytes")


def test_a_put_that_gets_no_answer_at_all_looks_for_its_object(s3: S3Server) -> None:
    storage = open_storage(s3.url("unanswered"), s3.options | {"fs.s3a.retry.limit": "0"})
    s3.lose_answers(1)

    storage.put_if_absent("_delta_log/0", b"mine")

    assert storage.read("_delta_log/0") == b"mine"


def test_a_put_that_cannot_look_for_its_object_says_so(s3: S3Server) -> None:
    storage = open_storage(s3.url("unknown"), s3.options | {"fs.s3a.retry.limit": "0"})
    s3.lose_answers(1)
    s3.deny_reads(1)

    with pytest.raises(WriteOutcomeUnknownError, match=r"it is not known whether s3a://bucket/unk"):
        storage.put_if_absent("_delta_log/0", b"mine")

    assert storage.read("_delta_log/0") == b"mine"


def test_a_put_to_a_store_that_cannot_be_reached_says_so(s3: S3Server) -> None:
    nowhere = {"fs.s3a.endpoint": "http://127.0.0.1:1", "fs.s3a.retry.limit": "0"}
    storage = open_storage("s3a://bucket/t", s3.options | nowhere)

    with pytest.raises(WriteOutcomeUnknownError, match=r"it is not known whether s3a://bucket/t/a"):
        storage.put_if_absent("a", b"mine")
    with pytest.raises(StorageError, match=r"cannot read s3a://bucket/t/a: "):
        storage.read("a")


def test_permission_denied_is_one_sentence_and_a_hint(storage: Storage, s3: S3Server) -> None:
    s3.deny_reads(1)

    with pytest.raises(StoragePermissionError) as caught:
        storage.read("a")

    first, hint = caught.value.sentence().split("\n")
    assert first.startswith(f"no permission to read {storage.root}/a: ")
    assert hint.startswith("hint: ")


def test_missing_credentials_are_told_with_where_they_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    with machine_without_a_role() as endpoint:
        storage = open_storage("s3a://bucket/t", {"aws_metadata_endpoint": endpoint})

        with pytest.raises(CredentialsNotFoundError) as caught:
            storage.read("a")

    first, hint = caught.value.sentence().split("\n")
    assert first.startswith(
        "cannot read s3a://bucket/t/a: there are no credentials in the options or the "
        "environment, and the machine gave none ("
    )
    assert hint.startswith("hint: set them in the environment (AWS_ACCESS_KEY_ID and ")


@contextmanager
def machine_without_a_role() -> Iterator[str]:
    """Run what a cloud's machine asks for its role, on a machine that has none."""

    class Nothing(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.send_error(404)

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Nothing) as server:
        Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_a_missing_bucket_is_told_apart_from_an_empty_folder(s3: S3Server) -> None:
    storage = open_storage("s3a://no-such-bucket/t", s3.options)
    reason = "The specified bucket does not exist (NoSuchBucket)"

    with pytest.raises(StorageError) as caught:
        list(storage.list_from("_delta_log/0"))
    assert caught.value.sentence() == f"cannot list s3a://no-such-bucket/t/_delta_log: {reason}"
    with pytest.raises(StorageError) as caught:
        storage.put_if_absent("a", b"")
    assert caught.value.sentence() == f"cannot write s3a://no-such-bucket/t/a: {reason}"


def test_a_url_of_another_bucket_is_opened_with_the_same_options(s3: S3Server) -> None:
    with pytest.raises(FileNotFoundError, match="s3a://other-bucket/x"):
        open_storage("s3a://bucket/t", s3.options).read("s3a://other-bucket/x")


@pytest.mark.slow
def test_a_subfolder_of_many_pages_is_jumped_over(storage: Storage, s3: S3Server) -> None:
    log = storage.root.removeprefix("s3a://bucket/") + "/_delta_log"
    inside = [f"{log}/_sidecars/{n:04}" for n in range(2100)]
    beside = [f"{log}/{name}" for name in ("0.json", "_sidecars0", "_sidecarr", "_t")]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(s3.put, [*inside, *beside]))

    found = [f.path for f in storage.list_from("_delta_log/0.json")]

    assert found == [f"_delta_log/{n}" for n in ("0.json", "_sidecarr", "_sidecars0", "_t")]


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(StorageError, match=r"cannot open s3://b/t: .*'aws_bogus' is not valid"):
        open_storage("s3://b/t", {"aws_bogus": "1"})


def test_without_obstore_the_hint_says_what_to_install() -> None:
    # A None in sys.modules makes an import fail as if nothing were installed.
    script = (
        "import sys; sys.modules['obstore'] = sys.modules['obstore.store'] = None\n"
        "from truckee.storage import open_storage\n"
        "open_storage('/local')\n"
        "try: open_storage('gs://b/t')\n"
        "except Exception as error: print(type(error).__name__, error, sep=': ')\n"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.stdout == (
        "MissingObjectStoreError: [DELTA_MISSING_OBJECT_STORE_SUPPORT] cannot open gs://b/t: "
        "the library for its store is not installed\n"
        "hint: pip install 'truckee[object-store]'\n"
    )


def test_a_forked_process_is_told_so_rather_than_left_waiting(s3: S3Server) -> None:
    # In a process of its own, since this one has threads that no fork should meet.
    script = (
        "import os, sys\n"
        "from truckee.storage import open_storage\n"
        "storage = open_storage('s3a://bucket/forked', dict(a.split('=') for a in sys.argv[1:]))\n"
        "storage.write('a', b'1')\n"
        "if os.fork() == 0:\n"
        "    try: storage.read('a')\n"
        "    except Exception as error: print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    options = [f"{name}={value}" for name, value in s3.options.items()]

    done = subprocess.run(
        [sys.executable, "-c", script, *options], capture_output=True, text=True, timeout=60
    )

    assert done.stdout == (
        "[DELTA_STORAGE_USED_ACROSS_FORK] cannot read s3a://bucket/forked/a: the process was "
        "forked while it used the store\n"
        "hint: start processes with multiprocessing.get_context('spawn')\n"
    )


def test_gcs_and_azure_open_without_a_request() -> None:
    for url in ("gs://b/t", "abfss://c@acc.dfs.core.windows.net/t", "wasbs://c@acc.blob.x.cn/t"):
        assert isinstance(open_storage(url), ObjectStoreStorage)
        assert open_storage(url).root == url
