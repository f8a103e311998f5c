"""Settings of a session that come from outside Python: spark-submit, files and environment.

| who sets it                         | where it is found, highest precedence first        |
|-------------------------------------|----------------------------------------------------|
| spark-submit, or an earlier session | the settings of the JVM, which runs already        |
| `PYSPARK_SUBMIT_ARGS`               | `--conf`, `--master`, `--driver-java-options`      |
| a file of properties                | `--properties-file`, else `spark-defaults.conf`    |
| the environment                     | `MASTER`, `SPARK_LOCAL_IP`, `SPARK_LOCAL_HOSTNAME` |
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home

_SETTING_OF_FLAG = {
    "--master": "spark.master",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}
_SETTING_OF_VARIABLE = {
    "MASTER": "spark.master",
    "SPARK_LOCAL_IP": "spark.driver.bindAddress",
    "SPARK_LOCAL_HOSTNAME": "spark.driver.host",
}
_PROPERTY = re.compile(r"([^\s=:]+)\s*[=:\s]\s*(.*)")


def jvm_is_there() -> bool:
    """Return whether the session's JVM already runs, so that its options cannot change."""
    return SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def explicit_settings() -> dict[str, str]:
    """Return the settings that a session gets if its builder sets nothing."""
    said = {
        setting: os.environ[name]
        for name, setting in _SETTING_OF_VARIABLE.items()
        if name in os.environ
    }
    if jvm_is_there():
        SparkContext._ensure_initialized()
        return said | dict(SparkConf().getAll())
    submitted = dict(_submit_arguments())
    file = submitted.pop("--properties-file", None)
    defaults = Path(file) if file else conf_folder() / "spark-defaults.conf"
    return said | dict(_properties(defaults)) | submitted


def conf_folder() -> Path:
    """Return the folder in which Spark looks for files of settings."""
    given = os.environ.get("SPARK_CONF_DIR")
    return Path(given) if given else Path(_find_spark_home()) / "conf"


def _submit_arguments() -> Iterator[tuple[str, str]]:
    words = iter(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "")))
    for word in words:
        flag, is_joined, value = word.partition("=")
        if flag not in {"--conf", "-c", "--properties-file", *_SETTING_OF_FLAG}:
            continue
        value = value if is_joined else next(words, "")
        if flag in {"--conf", "-c"}:
            key, _, value = value.partition("=")
            yield key, value
        else:
            yield _SETTING_OF_FLAG.get(flag, flag), value


def _properties(file: Path) -> Iterator[tuple[str, str]]:
    if not file.is_file():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        found = _PROPERTY.match(line.strip())
        if found is not None and not line.lstrip().startswith(("#", "!")):
            yield found[1], found[2].strip()
