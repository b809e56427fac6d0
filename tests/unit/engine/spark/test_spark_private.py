"""Every part of pyspark and Spark that they do not promise, and this package uses, is as it uses it; each test names
one. No Java is needed: what is Java's is looked up in the jars."""

import importlib.util
import inspect
import re
import struct
import zipfile
from pathlib import Path

import pytest

from applier.engine.spark import spark_private

ROOT = Path(__file__).resolve().parents[4]
_PRIVATE = re.compile(r"PYSPARK_GATEWAY|_PYSPARK_|\._gateway\b|pyspark\.daemon|pyspark\.worker|spark\.launcher|"
                      r"SparkSubmit|\._jvm|\._jsc|spark\.python\.daemon|pyspark\.sql\.connect\b|SPARK_SCALA_VERSION|"
                      r"_ensure_initialized|_active_spark_context|_activeSession|_get_j_spark|pyspark-shell")


def jar(name):
    [found] = spark_private.jars(spark_private.home()).glob(f"{name}_*.jar")
    return zipfile.ZipFile(found)


def test_pyspark_has_its_spark_beside_it():
    assert spark_private.jars(spark_private.home()).is_dir(), "pyspark/jars is gone"
    version = spark_private.scala_version(spark_private.home())
    assert re.fullmatch(r"2\.\d+|3\.\d+|3", version), "spark-core_<Scala>-*.jar"


@pytest.mark.parametrize("name, of", [*zip(spark_private.LAUNCHER, ("spark-launcher", "spark-core"), strict=True)])
def test_the_launcher_is_there(name, of):
    assert f"{name.replace('.', '/')}.class" in jar(of).namelist(), f"{name} is gone"


def test_the_launchers_answer_is_words_with_zero_bytes_behind_a_line():
    printed = "\0\n/usr/bin/java\0-cp\0/jars/*\0"
    assert spark_private.printed_command(printed) == ["/usr/bin/java", "-cp", "/jars/*"]
    assert len(spark_private.printed_command("usage: …\n")) == 1


@pytest.mark.parametrize("variable", [spark_private.GATEWAY_PORT, spark_private.GATEWAY_SECRET,
                                      spark_private.CONNECTION_FILE])
def test_pyspark_finds_a_jvm_by_variables(variable):
    from pyspark import java_gateway

    assert f'"{variable}"' in inspect.getsource(java_gateway.launch_gateway), f"pyspark does not look at {variable}"


def test_a_jvm_tells_its_port_and_secret_as_pyspark_reads_them():
    from pyspark import java_gateway

    source = inspect.getsource(java_gateway.launch_gateway)
    assert "gateway_port = read_int(info)" in source and "UTF8Deserializer().loads(info)" in source, \
        "the connection file is another one"
    assert spark_private.connection_of(struct.pack(">ii", 4711, 6) + b"secret") == (4711, "secret")


def test_whether_there_is_a_jvm():
    from pyspark import SparkContext

    assert hasattr(SparkContext, "_gateway"), "SparkContext._gateway is gone"


def test_which_context_there_is():
    from pyspark import SparkContext

    assert hasattr(SparkContext, "_active_spark_context"), "SparkContext._active_spark_context is gone"
    assert "self.master" in inspect.getsource(SparkContext), "a SparkContext has no master"


def test_executors_are_counted():
    """The map has the driver and its executors."""
    of_context = jar("spark-core").read("org/apache/spark/SparkContext.class")
    assert b"getExecutorMemoryStatus" in of_context, "SparkContext.getExecutorMemoryStatus is gone"


def test_pyspark_is_connected_to_a_jvm_before_there_is_a_context():
    from pyspark import SparkContext

    parameters = inspect.signature(SparkContext._ensure_initialized).parameters
    assert "conf" in parameters, "SparkContext._ensure_initialized takes no conf"
    assert "launch_gateway(conf)" in inspect.getsource(SparkContext._ensure_initialized)


def test_which_session_is_active():
    from pyspark.sql import SparkSession

    made = inspect.getsource(SparkSession.createDataFrame)
    assert "SparkSession._activeSession = self" in made and "setActiveSession(self._jsparkSession)" in made, \
        "createDataFrame makes no session the active one: active_session_kept is not needed"
    assert hasattr(SparkSession, "_get_j_spark_session_class"), "SparkSession._get_j_spark_session_class is gone"


def test_the_daemon_that_forks_workers():
    from pyspark import daemon

    assert inspect.signature(daemon.manager).parameters == {}, "pyspark.daemon.manager takes something"


@pytest.mark.parametrize("name", spark_private.PRELOADED)
def test_what_workers_import(name):
    assert importlib.import_module(name)


@pytest.mark.parametrize("name", spark_private.SETTINGS)
def test_settings_that_are_not_documented(name):
    core = jar("spark-core")
    classes = (each for each in core.namelist() if each.startswith("org/apache/spark/internal/config/"))
    assert any(name.encode() in core.read(each) for each in classes), f"Spark has no setting {name}"


def test_sessions_of_connect_are_told_by_their_module():
    assert importlib.util.find_spec("pyspark.sql.connect.session"), "pyspark.sql.connect is gone"


def test_the_doors_are_opened_in_one_module():
    files = [file for package in ("applier", "jsondiff", "keysearch") for file in (ROOT / package).rglob("*.py")]
    found = {str(file.relative_to(ROOT)) for file in files if _PRIVATE.search(file.read_text())}
    assert found == {"applier/engine/spark/spark_private.py"}


def test_a_reader_may_seem_to_push_no_filters():
    """Spark's planner looks at the method where push-down is off; it is called where it is on."""
    from pyspark.sql.datasource import DataSourceReader
    from pyspark.sql.worker import data_source_pushdown_filters, plan_data_source_read

    planner = " ".join(inspect.getsource(plan_data_source_read).split())
    assert 'getattr(reader.pushFilters, "__func__", None) is not DataSourceReader.pushFilters' in planner
    assert "reader.pushFilters([" in inspect.getsource(data_source_pushdown_filters)
    push = spark_private.PushFilters(lambda filters: filters[1:])
    assert push.__func__ is DataSourceReader.pushFilters and push([1, 2]) == [2]
