"""truckee's Java classes, made available by name on the driver and on every executor.

The Java sources beside this module are compiled by Janino, the compiler of Spark's own code
generation, against the Spark that is running. The classes are kept in a JAR, which is added to the
application as `ADD JAR` does. So nobody has to match a JAR to a version of Spark.

| setting of the application          | default          | what it says                         |
|-------------------------------------|------------------|--------------------------------------|
| `spark.truckee.classes.folder`      | the user's cache | the folder that the JAR is kept in   |
| `spark.truckee.classes.onClassPath` | `false`          | `true`: driver and executors have it |
|                                     |                  | on their class path, and none is     |
|                                     |                  | compiled or added                    |

The name of the JAR has the version of Spark and a digest of the sources, so several versions,
sessions and processes can share a folder. A JAR gets its name only when it is complete. If other
users could change what is in the folder, a private temporary one is used instead (see
`jar_folder`).

Objects of these classes reach tasks inside the plan. What tasks return must be made of classes of
Java or Spark: in a cluster, the threads of the driver that read results do not know added JARs.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from threading import RLock
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from truckee.errors.spark import ClassesNotAddedError, SessionStoppedError
from truckee.spark.jvm.jar_folder import SEAL_SIZE, danger_in, kept_jar, users_folder

FOLDER = "spark.truckee.classes.folder"
ON_CLASS_PATH = "spark.truckee.classes.onClassPath"

_JAVA_TARGET = 8  # from which on interfaces have static methods
_MADE_AT = (1980, 1, 1, 0, 0, 0)  # the same content is the same file
_MUTABLE_LOADER = "org.apache.spark.util.MutableURLClassLoader"

_lock = RLock()
_loaders: dict[int, tuple[Any, Any]] = {}
_added: set[tuple[str, str]] = set()
_objects: dict[tuple[int, str], Any] = {}


def shipped_class(spark: SparkSession, name: str) -> Any:
    """Return the `java.lang.Class` of a class of ours; driver and executors know it by name."""
    return _loader(_context(spark)).loadClass(name)


def maker(context: Any, name: str) -> Any:
    """Return the one object of the class `Maker` inside a class of ours, for the whole JVM.

    Python calls its methods, since Py4J finds static methods only on the JVM's own class path.
    """
    with _lock:
        loader = _loader(context)
        key = (id(context._gateway), name)
        if key not in _objects:
            _objects[key] = loader.loadClass(f"truckee.{name}$Maker").newInstance()
        return _objects[key]


def plugin(spark: SparkSession, name: str) -> Any:
    """Return the `Maker` of a source in the folder `plugins`, compiled for this driver alone.

    These sources need parts of Spark that are not everywhere, so the others are compiled without
    them.
    """
    context = _context(spark)
    source = resources.files("truckee.spark.jvm") / "plugins" / f"{name}.java"
    with _lock:
        compiler = context._gateway.jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(_loader(context))
        compiler.cook(source.read_text(encoding="utf-8"))
        return compiler.getClassLoader().loadClass(f"truckee.{name}$Maker").newInstance()


def add_services(spark: SparkSession, services: Mapping[str, Iterable[str]]) -> None:
    """Let Java's `ServiceLoader` find classes of ours: interfaces, and the classes that serve them.

    They are in a JAR of their own: a program that only reads tables must not claim the name of a
    format. Raises ClassesNotAddedError if that JAR should be on the class path and is not.
    """
    entries = {
        f"META-INF/services/{interface}": "".join(f"{name}\n" for name in names).encode()
        for interface, names in services.items()
    }
    stamp = f"META-INF/truckee-services-{_short_digest(_jar(entries))}"
    content = _jar({**entries, stamp: b""})
    name = f"truckee-services-{_short_digest(content)}.jar"
    context = _context(spark)
    with _lock:
        loader = _loader(context)
        if _is_on_class_path(context):
            _check_class_path(loader, name, stamp)
        else:
            _add(context, loader, _kept(context, name, lambda: content))


def _context(spark: SparkSession) -> Any:
    if spark.sparkContext._jsc is None:
        raise SessionStoppedError
    return spark.sparkContext


def _loader(context: Any) -> Any:
    """Return the class loader that has our classes, after adding them where they are missing."""
    with _lock:
        known = _loaders.get(id(context))
        if known is not None and known[0] is context:
            return known[1]
        loader = _outermost_loader(context)
        if _is_on_class_path(context):
            _check_class_path(loader, _jar_name(context), _stamp(context))
        else:
            _add(context, loader, _classes(context))
        _loaders[id(context)] = (context, loader)
        return loader


def _outermost_loader(context: Any) -> Any:
    """Return the loader to which JARs are added.

    It is the outermost loader that accepts JARs. A context that is started after another one was
    stopped has a class loader of its own, and Py4J mixes up classes of the same name in two
    loaders. So the classes are added where all contexts of the JVM find them.
    """
    jvm = context._gateway.jvm
    mutable = context._jsc.getClass().getClassLoader().loadClass(_MUTABLE_LOADER)
    each = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    found = None
    while each is not None:
        if mutable.isInstance(each):
            found = each
        each = each.getParent()
    if found is None:
        raise ClassesNotAddedError(reason="the class loader of the driver takes no JAR")
    return found


def _add(context: Any, loader: Any, jar: Path) -> None:
    """Make the classes of a JAR known to the driver and, by the next task, to every executor."""
    key = (context.applicationId, jar.name)
    if key in _added:
        return
    try:
        loader.addURL(context._gateway.jvm.java.io.File(str(jar)).toURI().toURL())
        context._jsc.sc().addJar(str(jar))
    except Py4JJavaError as error:
        raise ClassesNotAddedError(reason=_said(error)) from error
    _added.add(key)


def _classes(context: Any) -> Path:
    return _kept(context, _jar_name(context), lambda: _compiled(context))


def _jar_name(context: Any) -> str:
    return f"truckee-{_version(context)}.jar"


def _version(context: Any) -> str:
    return f"{context.version}-java{_JAVA_TARGET}-{_digest()}"


@cache
def _sources() -> Mapping[str, str]:
    """Return our Java sources by the names of their files."""
    folder = resources.files("truckee.spark.jvm")
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {f.name: f.read_text(encoding="utf-8") for f in files if f.name.endswith(".java")}


@cache
def _digest() -> str:
    text = "\0".join(part for item in _sources().items() for part in item)
    return _short_digest(text.encode())


def _short_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _compiled(context: Any) -> bytes:
    """Return a JAR of our classes."""
    jvm = context._gateway.jvm
    resource = jvm.org.codehaus.commons.compiler.util.resource
    classes = resource.MapResourceCreator()
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    compiler = jvm.org.codehaus.janino.Compiler(
        resource.MapResourceFinder(), jvm.org.codehaus.janino.ClassLoaderIClassLoader(loader)
    )
    compiler.setClassFileCreator(classes)
    compiler.setTargetVersion(_JAVA_TARGET)
    compiler.setDebugLines(True)
    finder = resource.MapResourceFinder()
    sources = context._gateway.new_array(resource.Resource, len(_sources()))
    for index, (name, text) in enumerate(_sources().items()):
        finder.addResource(name, text)
        sources[index] = finder.findResource(name)
    try:
        compiler.compile(sources)
    except Py4JJavaError as error:
        reason = f"they do not compile with Spark {context.version}: {_said(error)}"
        raise ClassesNotAddedError(reason=reason) from error
    entries = {str(name): bytes(data) for name, data in classes.getMap().items()}
    return _jar({**entries, _stamp(context): b""})


def _stamp(context: Any) -> str:
    """Return the name of the entry by which a JAR on the class path is recognised."""
    return f"META-INF/truckee-{_version(context)}"


def _jar(entries: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, data in sorted(entries.items()):
            jar.writestr(zipfile.ZipInfo(name, _MADE_AT), data)
        jar.comment = b" " * SEAL_SIZE
    return packed.getvalue()


def _kept(context: Any, name: str, content: Callable[[], bytes]) -> Path:
    """Return the JAR of this name; it is made if it is missing or damaged."""
    jar = kept_jar(_folders(context), name, content)
    if jar is None:
        said = _setting(context, FOLDER)
        raise ClassesNotAddedError(reason=f"no file can be written in the folder '{said}'")
    return jar


def _folders(context: Any) -> Iterator[Path]:
    """Yield where to keep JARs: the folder of the setting, the user's cache, a temporary one."""
    said = _setting(context, FOLDER)
    if said:
        yield Path(said).expanduser()
        if danger_in(Path(said).expanduser()) is None:
            return
    elif (folder := users_folder()) is not None:
        yield folder
    # With a predictable name in a shared folder, another user could put code there first.
    yield Path(tempfile.mkdtemp(prefix="truckee-"))


def _is_on_class_path(context: Any) -> bool:
    return _setting(context, ON_CLASS_PATH).lower() == "true"


def _check_class_path(loader: Any, jar: str, stamp: str) -> None:
    if loader.getResource(stamp) is None:
        raise ClassesNotAddedError(
            reason=f"{ON_CLASS_PATH} is set, and {jar} is not on the class path of the driver"
        )


def _setting(context: Any, name: str) -> str:
    return str(context._conf.get(name, ""))


def _said(error: Py4JJavaError) -> str:
    return str(error.java_exception.toString())
