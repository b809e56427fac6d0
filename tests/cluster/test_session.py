"""Sessions: what a master URL becomes, quiet terminals, a session in the background, and orderly failure."""

import json
import os
import re
import subprocess
import sys
import threading
from threading import Event, Thread

import pytest

from applier.engine.spark import session, spark_private, stages
from applier.engine.spark.forking import PRELOADED
from tests.support.folders import ROOT
from tests.support.small_logs import commit, insert, new_log


@pytest.mark.parametrize("given, used", [
    ("local", "local[1,4]"), ("local[*]", "local[*,4]"), ("local[2]", "local[2,4]"), ("local[3,1]", "local[3,1]"),
    ("spark://h:7077", "spark://h:7077"), ("yarn", "yarn"), ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
])
def test_local_masters_retry_tasks(given, used):
    assert session.with_retries(given) == used


def test_there_is_one_session_a_process(spark):
    assert session.start("local[2]") is spark
    assert session.start_in_background("local[2]").result() is spark
    assert not {"PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"} & os.environ.keys()


def test_threads_that_make_frames_keep_the_active_session(spark):
    """The second of two threads could restore what the first one had made active."""
    users, made, second, left = spark.newSession(), spark.newSession(), Event(), Event()
    warmed_up()

    def overlapping():
        with spark_private.active_session_kept(made):
            second.set()
            left.wait(20)

    users.createDataFrame([(1,)], "a int")
    thread = Thread(target=overlapping)
    with spark_private.active_session_kept(made):
        made.createDataFrame([(1,)], "a int")
        thread.start()
        second.wait(1)
    left.set()
    thread.join()
    assert type(spark).getActiveSession() is users


def test_a_session_that_another_thread_makes_active_stays_active(spark):
    """It did not while the first job of `start_in_background` restored the one before."""
    users, made = spark.newSession(), spark.newSession()
    warmed_up()
    spark.createDataFrame([(1,)], "a int")
    with spark_private.active_session_kept(made):
        made.createDataFrame([(1,)], "a int")
        thread = Thread(target=users.createDataFrame, args=([(1,)], "a int"))
        thread.start()
        thread.join()
    assert type(spark).getActiveSession() is users


def warmed_up():
    """Wait for the first job of sessions that started in the background."""
    for thread in threading.enumerate():
        if thread.name == "spark-start":
            thread.join()


def test_workers_come_with_their_modules(spark):
    def loaded(names):
        import gc
        import sys

        return [name for name in names if name not in sys.modules], gc.get_freeze_count()

    [(missing, frozen)] = stages.map_tasks(spark, loaded, [PRELOADED])
    assert missing == []
    assert frozen > 10_000


def program(code, directory, **environment):
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.run([sys.executable, "-c", code], cwd=directory, env=environment, capture_output=True, text=True)


@pytest.mark.thorough
def test_a_program_outside_the_checkout_says_only_what_it_says(tmp_path):
    """Also through a fault in a task, of which Spark's own logs are long; and no file is left in the directory."""
    run = program("from applier.engine.spark import running, session, stages\n"
                  "spark = session.start_in_background('local[2]').result()\n"
                  "try:\n    stages.map_tasks(spark, lambda item: 1 // 0, [1])\n"
                  "except running.TaskFailed as error:\n    print(str(error).splitlines()[-1])\n", tmp_path)
    assert run.stdout == "ZeroDivisionError: integer division or modulo by zero\n"
    assert (run.stderr, run.returncode) == ("", 0)
    assert list(tmp_path.iterdir()) == []


def test_missing_java_is_an_error_of_the_future(tmp_path):
    run = program("from applier.engine.spark import session\nfrom applier.errors import UsageError\n"
                  "try:\n    session.start_in_background().result()\n"
                  "except UsageError as error:\n    print(error.message)\n", tmp_path, JAVA_HOME=str(tmp_path))
    assert "no bin/java" in run.stdout


def test_a_command_after_one_that_failed_at_once(tmp_path):
    """The first one's session is still starting then, and may be importing pyspark."""
    run = program("from applier import cli\nfor turn in range(3):\n"
                  "    print(cli.main(['replay', '--binlogs', 'nowhere', '--output', 'out']))\n", tmp_path)
    assert run.stdout == "2\n2\n2\n" and run.stderr.count("no such file or directory") == 3


def test_a_master_that_cannot_be_is_explained(tmp_path):
    run = program("from applier.engine.spark import session\nfrom applier.errors import ApplierError\n"
                  "try:\n    session.start('nonsense')\n"
                  "except ApplierError as error:\n    print(error.message)\n", tmp_path)
    assert "Spark did not start with master nonsense" in run.stdout and "org.apache" not in run.stdout


@pytest.mark.thorough
def test_a_program_may_end_while_a_job_runs(tmp_path):
    """The job's thread reads what Java sends, in Arrow's C++: had it come back to an interpreter that is gone, the
    process would have been aborted."""
    run = program("""if True:
        import time
        from threading import Event, Thread
        from applier.engine.spark import session, stages
        def slow(item):
            import time
            time.sleep(0.3)
        spark, begun = session.start("local[2]"), Event()
        job = lambda: stages.map_tasks(spark, slow, range(100), on_progress=lambda done, of: done and begun.set())
        Thread(target=job, daemon=True).start()
        begun.wait()
        print("ends")
    """, tmp_path)
    assert (run.stdout, run.returncode) == ("ends\n", 0), run.stderr


USERS = """
import json, os
from pyspark.sql import SparkSession
users = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
         .config("spark.sql.shuffle.partitions", "400").config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
         .getOrCreate())
users.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "77")
users.sparkContext.setJobDescription("the user's")
def state():
    context = users.sparkContext
    return [dict(users.conf.getAll), dict(context.getConf().getAll()), dict(os.environ),
            context.getLocalProperty("spark.job.description"), context.getLocalProperty("spark.jobGroup.id"),
            SparkSession.getActiveSession() is users, SparkSession.builder.getOrCreate() is users]
before = state()
"""


WITH_USERS = USERS + """
import applier
from applier.engine.spark import session, stages
from applier.errors import UsageError
during = []
spark = session.start()
ours = [spark.conf.get(f"spark.sql.{name}") for name in ("adaptive.enabled", "shuffle.partitions")]
stages.map_tasks(spark, abs, range(4), on_progress=lambda *_: during.append(state() == before))
applier.replay("logs", "out", engine="spark")
rows = applier.Snapshot("out").tables["shop.item"].rows
print(json.dumps([before[-2:], state() == before, all(during), ours, session.start() is spark, rows,
                  users.range(5).count()]))
spark = session.start(conf=(("spark.sql.session.timeZone", "UTC"),))
print(spark.conf.get("spark.sql.session.timeZone"), *map(session.master_in_use, (None, "local[9]", "sc://h")))
for name, value in (("spark.executor.memory", "3g"), ("spark.sql.adaptive.enabled", "true")):
    try:
        session.start(conf=((name, value),))
    except UsageError as error:
        print(error.message)
print(state() == before)
"""


@pytest.fixture(scope="module")
def beside_the_users_session(tmp_path_factory):
    """What a program prints that has a session of its own: one for both tests, as Java takes seconds to start."""
    folder = tmp_path_factory.mktemp("users")
    (folder / "logs").mkdir()
    with new_log(folder / "logs") as log:
        commit(log, insert([(n, n, "x") for n in range(100)]))
    run = program(WITH_USERS, folder, PYSPARK_PYTHON=sys.executable)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_session_that_a_program_has_stays_as_it_is(beside_the_users_session):
    """Its settings, the environment, the active session, also while our tasks run."""
    assert json.loads(beside_the_users_session[0]) == [[True, True], True, True, ["false", "400"], True, 100, 5]


def test_a_running_context_takes_settings_of_queries_only(beside_the_users_session):
    assert beside_the_users_session[1:] == [
        "UTC local[2] local[2] sc://h",
        "Spark is running in this process already, and spark.executor.memory cannot be changed",
        "spark.sql.adaptive.enabled must be false: results depend on it", "True"]


@pytest.mark.thorough
def test_the_users_configuration_wins_over_ours(tmp_path):
    """--conf over spark-defaults.conf over ours; and whoever gets a session in this process later has Spark's own
    settings for queries."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(
        "spark.locality.wait 7s\nspark.task.maxFailures=9\nspark.sql.execution.arrow.maxRecordsPerBatch 55\n"
        "spark.log.level ERROR\nspark.ui.enabled false\n")
    run = program("""
import json, os
from applier.engine.spark import session, stages
python = os.environ.get("PYSPARK_PYTHON")
spark = session.start("local[2]", conf=(("spark.task.maxFailures", "3"), ("spark.sql.codegen.wholeStage", "true")))
names = ["locality.wait", "task.maxFailures", "driver.maxResultSize", "ui.enabled", "ui.showConsoleProgress"]
print(json.dumps([[spark.sparkContext.getConf().get(f"spark.{name}") for name in names],
                  [spark.conf.get(f"spark.sql.{name}") for name in (
                      "execution.arrow.maxRecordsPerBatch", "codegen.wholeStage", "adaptive.enabled")],
                  stages.map_tasks(spark, abs, [-1]), os.environ.get("PYSPARK_PYTHON") == python,
                  [spark.builder.getOrCreate().conf.get("spark.sql.adaptive.enabled")]]))
""", tmp_path, SPARK_CONF_DIR=str(tmp_path / "conf"))
    assert json.loads(run.stdout.splitlines()[-1]) == [
        ["7s", "3", "0", "false", "false"], ["55", "true", "false"], [1], True, ["true"]], run.stderr


@pytest.mark.thorough
def test_the_ui_has_our_words(tmp_path):
    """It is there where a master is named."""
    (tmp_path / "logs").mkdir()
    with new_log(tmp_path / "logs") as log:
        commit(log, insert([(n, n, "x") for n in range(100)]))
    run = program("""
import json, urllib.request
import applier
from applier.engine.spark import executor, session
executor.is_local = lambda master: False  # as on a cluster
applier.replay("logs", "out", master="local[2]", conf={"spark.ui.port": "0"})
applier.export("out", "dump", master="local[2]", conf={"spark.ui.port": "0"})
url = f"{session.start('local[2]', conf=(('spark.ui.port', '0'),)).sparkContext.uiWebUrl}/api/v1/applications"
get = lambda url: json.load(urllib.request.urlopen(url))
[application] = get(url)
applier.replay("logs", "out2", master="local[2]", route="shuffle", conf={"spark.ui.port": "0"})
of_ours = f"{url}/{application['id']}"
print(json.dumps([application["name"], [job["description"] for job in get(f"{of_ours}/jobs")],
                  [query["planDescription"] for query in get(f"{of_ours}/sql?length=100")]]))
""", tmp_path)
    assert run.returncode == 0, run.stderr
    name, jobs, plans = json.loads(run.stdout)
    assert name == "applier"
    assert [re.sub(r"[\d,]+ bytes", "N bytes", job) for job in reversed(jobs) if job != "start Python workers"] == [
        "outline 1 file of N bytes", "apply 1 unit of shop.item (walk, N bytes of log)", "export 1 file",
        "outline 1 file of N bytes", "apply 1 unit of shop.item (shuffle, N bytes of log)"]
    for function in ("outline_all", "walk_log", "export_file", "split_log", "apply_changes"):
        assert any(f"{function}(" in plan for plan in plans), function
