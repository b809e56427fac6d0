"""What the end of Java looks like to py4j; lost executors; how many tasks executors run that are there, or are still to
come."""

from types import SimpleNamespace

import pytest
from py4j.protocol import ERROR, Py4JError, get_return_value

from applier.engine.spark import running
from applier.errors import ApplierError


def test_a_connection_that_breaks_while_it_waits_means_that_java_is_gone():
    """py4j's error is bare then; one of Java's own has a trace."""
    with pytest.raises(Py4JError) as broken:
        get_return_value(ERROR, None, "o102", "getResult")
    assert running.is_silence(broken.value)
    assert not running.is_silence(Py4JError("An error occurred while calling o102.getResult. Trace:\njava.lang.Error"))


@pytest.mark.parametrize("master, executors, done, notes", [
    ("spark://head:7077", 0, 0, 1), ("yarn", 2, 0, 0), ("k8s://h", 0, 1, 0), ("local[2]", 0, 0, 0)])
def test_a_job_that_no_executor_runs_is_noted_once(master, executors, done, notes, monkeypatch):
    managers = SimpleNamespace(size=lambda: 1 + executors)
    context = SimpleNamespace(master=master, uiWebUrl="http://head:4040", _jsc=SimpleNamespace(
        sc=lambda: SimpleNamespace(getExecutorMemoryStatus=lambda: managers)))
    monkeypatch.setattr(running, "NO_EXECUTORS_SECONDS", 0.0)
    said, seen = [], []
    progress = running.noting_no_executors(SimpleNamespace(sparkContext=context), lambda *at: seen.append(at),
                                           said.append)
    for _ in range(3):
        progress(done, 5)
    assert seen == [(done, 5)] * 3 and len(said) == notes
    assert all("no executor of Spark" in text and "http://head:4040" in text for text in said)


ABORTED = "Job aborted due to stage failure: Task 5 in stage 6.0 failed 4 times, most recent failure: Lost task 5.3 " \
    "in stage 6.0 (TID 15) (10.0.0.7 executor 3): "
LOST = ABORTED + "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: "


@pytest.mark.parametrize("reason", [
    "Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB physical memory used.",
    "The executor with id 3 exited with exit code 137(SIGKILL, possible container OOM).",
    "Remote RPC client disassociated. Likely due to containers exceeding thresholds, or network issues.",
    "Command exited with code 137"])
def test_a_lost_executor_is_explained_with_the_setting_for_its_memory(reason):
    with pytest.raises(ApplierError) as error, running.explain_spark_errors():
        raise running.explained(RuntimeError(f"{LOST}{reason}\nDriver stacktrace:\n\tat org.apache.spark"))
    assert error.value.message == f"an executor of Spark was lost on every attempt of a task: {reason}"
    assert "spark.executor.memoryOverhead" in error.value.hint and "spark.executor.cores" in error.value.hint


def test_lost_shuffle_files_are_explained():
    """What an executor that is killed each time looks like, too: it had the task's item, which another stage made."""
    text = "Job aborted due to stage failure: ResultStage 6 (toArrow) has failed the maximum allowable number of " \
        "times: 4. Most recent failure reason:\norg.apache.spark.shuffle.MetadataFetchFailedException: Missing an " \
        "output location for shuffle 3 partition 0"
    with pytest.raises(ApplierError, match="lost repeatedly") as error, running.explain_spark_errors():
        raise running.explained(RuntimeError(text))
    assert "spark.executor.memoryOverhead" in error.value.hint
    assert "shuffle service" in error.value.hint and "spark.stage.maxConsecutiveAttempts" in error.value.hint


def test_another_failure_of_a_job_keeps_its_reason():
    failed = running.explained(RuntimeError(f"{ABORTED}java.lang.IllegalStateException: x"))
    assert type(failed) is running.TaskFailed and "IllegalStateException: x" in str(failed)


@pytest.mark.parametrize("settings, tasks", [
    ({}, 2),
    ({"spark.executor.instances": "20", "spark.executor.cores": "8"}, 160),
    ({"spark.executor.instances": "20", "spark.executor.cores": "8", "spark.task.cpus": "2"}, 80),
    ({"spark.cores.max": "48"}, 48),
    ({"spark.dynamicAllocation.enabled": "true"}, running.DYNAMIC_CORES),
    ({"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "2147483647"},
     running.DYNAMIC_CORES),
    ({"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "50",
      "spark.executor.cores": "4"}, 200)])
def test_executors_that_are_still_to_come_count(settings, tasks):
    """defaultParallelism is 2 before executors register."""
    session = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2), conf=settings)
    assert running.parallelism(session) == tasks
