"""The files in examples/ and the Dockerfile: commands that the program takes, and parts that fit each other."""

import ast
import configparser
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import types
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer
import yaml

import applier
from applier.cli import application
from tests.support.folders import ROOT

EXAMPLES = ROOT / "examples"
KUBERNETES = sorted((EXAMPLES / "kubernetes").glob("*.yaml"))
GROUP = typer.main.get_command(application.app)
RELEASE = applier.__version__.partition(".dev")[0]
STORE = {"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


@pytest.fixture
def parse(monkeypatch):
    """Has the real command line read words, and run nothing; gives the verb's options."""
    given = {}
    for verb in GROUP.commands.values():
        monkeypatch.setattr(verb, "callback", lambda **options: given.update(options))

    def parse(words):
        given.clear()
        try:
            GROUP.main([str(word) for word in words], standalone_mode=False)
        except typer.TyperException as error:
            pytest.fail(f"applier {shlex.join(words)}: {error.format_message()}")
        assert given
        return dict(given)

    return parse


# ── compose ──


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((EXAMPLES / "compose" / "compose.yaml").read_text())


def test_services_of_the_applier_have_commands_that_it_takes(compose, parse):
    ours = {name: service for name, service in compose["services"].items() if service["image"] == "applier"}
    assert set(ours) == {"archive", "sync"}
    archive, sync = (parse(ours[name]["command"]) for name in ("archive", "sync"))
    assert [*sync["binlogs"]] == [archive["output"]]
    assert all((EXAMPLES / "compose" / service["build"]["context"]).resolve() == ROOT for service in ours.values())
    assert {service["build"]["target"] for service in ours.values()} <= set(stages())
    [metrics] = sync["metrics"]
    assert metrics in ours["sync"]["healthcheck"]["test"][1]


def test_services_name_volumes_files_and_services_that_are_there(compose):
    services, volumes = compose["services"], compose["volumes"]
    used = [volume.split(":")[0] for service in services.values() for volume in service.get("volumes", ())]
    assert {name for name in used if not name.startswith(".")} == set(volumes)
    assert all((EXAMPLES / "compose" / name).is_file() for name in used if name.startswith("."))
    for service in services.values():
        for name, how in service.get("depends_on", {}).items():
            assert how["condition"] != "service_healthy" or "healthcheck" in services[name]


def test_images_of_others_are_of_one_version(compose):
    others = [service["image"] for service in compose["services"].values() if service["image"] != "applier"]
    assert others and all(re.search(r":[^:/]*\d", image) for image in others)


def test_addresses_and_passwords_are_those_of_the_other_side(compose):
    services = compose["services"]
    source = services["archive"]["command"][services["archive"]["command"].index("--source") + 1]
    user, host = re.fullmatch(r"mysql://(\w+)@(\w+):3306", source).groups()
    sql = (EXAMPLES / "compose" / "shop.sql").read_text()
    password = services["archive"]["environment"]["MYSQL_PWD"]
    assert host in services and f"CREATE USER {user}@'%' IDENTIFIED BY '{password}'" in sql
    reader, store = services["sync"]["environment"], services["store"]["environment"]
    assert (reader["AWS_ACCESS_KEY_ID"], reader["AWS_SECRET_ACCESS_KEY"]) == tuple(store.values())
    assert re.fullmatch(r"http://(\w+):9000", reader["AWS_ENDPOINT_URL"])[1] in services
    [command] = services["bucket"]["command"]
    assert f"{reader['AWS_ENDPOINT_URL']} {' '.join(store.values())}" in command


# ── Kubernetes ──


def documents(file):
    return list(yaml.safe_load_all(file.read_text()))


def pods(file):
    """The pod templates in a file."""
    for document in documents(file):
        spec = document.get("spec", {})
        if document["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        if "template" in spec:
            yield spec["template"]


def containers(pod):
    return [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]


@pytest.mark.parametrize("file", KUBERNETES, ids=lambda file: file.stem)
def test_containers_have_commands_images_and_volumes_that_are_there(file, parse):
    names = [(document["kind"], document["metadata"]["name"]) for document in documents(file)]
    assert len(set(names)) == len(names)
    [pod] = pods(file)
    volumes = {volume["name"] for volume in pod["spec"].get("volumes", ())}
    for container in containers(pod):
        parse(container["args"])
        assert re.fullmatch(rf"registry\.example\.com/applier(-spark)?:{re.escape(RELEASE)}", container["image"])
        assert {mount["name"] for mount in container.get("volumeMounts", ())} <= volumes
        assert container["envFrom"] == [{"secretRef": {"name": "store"}}]


def test_the_steps_of_the_cron_job_are_about_one_lake(parse):
    [pod] = pods(EXAMPLES / "kubernetes" / "lake-cronjob.yaml")
    replay, publish, expire = (parse(container["args"]) for container in containers(pod))
    assert replay["lake"] == publish["snapshot"] == expire["lake"]


def test_spark_gets_what_its_driver_and_executors_need(parse):
    """Ports and names agree between the service, the pod and Spark's settings; executors have the driver's image."""
    file = EXAMPLES / "kubernetes" / "spark-job.yaml"
    known = {document["kind"]: document for document in documents(file)}
    lines = known["ConfigMap"]["data"]["spark-defaults.conf"].splitlines()
    settings = dict(line.split() for line in lines if not line.startswith("#"))
    [pod] = pods(file)
    [driver] = containers(pod)
    assert parse(driver["args"])["master"].startswith("k8s://")
    assert settings["spark.kubernetes.container.image"] == driver["image"]
    assert settings["spark.driver.host"] == known["Service"]["metadata"]["name"]
    assert known["Service"]["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    ports = {int(settings["spark.driver.port"]), int(settings["spark.driver.blockManager.port"])}
    assert {port["port"] for port in known["Service"]["spec"]["ports"]} == ports
    assert {port["containerPort"] for port in driver["ports"]} == ports
    assert pod["spec"]["serviceAccountName"] == known["ServiceAccount"]["metadata"]["name"]
    assert known["RoleBinding"]["roleRef"]["name"] == known["Role"]["metadata"]["name"]
    [volume] = [volume for volume in pod["spec"]["volumes"] if "configMap" in volume]
    assert volume["configMap"]["name"] == known["ConfigMap"]["metadata"]["name"]
    [mount] = [mount for mount in driver["volumeMounts"] if mount["name"] == volume["name"]]
    assert {"name": "SPARK_CONF_DIR", "value": mount["mountPath"]} in driver["env"]
    secrets = {name.rpartition(".")[2]: value for name, value in settings.items() if ".secretKeyRef." in name}
    assert secrets == {name: f"store:{name}" for name in STORE}


@pytest.fixture
def entrypoint(tmp_path):
    """Runs the image's entry with an `applier` and a `java` that print what they are started with, a line a word."""
    for name in ("applier", "java"):
        (tmp_path / name).write_text(f'#!/bin/sh\nprintf "%s\\n" {name} "$@"\n')
        (tmp_path / name).chmod(0o755)

    def run(*words, **variables):
        path = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
        done = subprocess.run(["bash", str(EXAMPLES / "kubernetes" / "entrypoint.sh"), *words], capture_output=True,
                              text=True, env=kept | {"PATH": path, "PYTHONPATH": str(ROOT)} | variables)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_the_entry_of_the_image_runs_the_applier(entrypoint):
    assert entrypoint("status", "s3://lake/a b") == ["applier", "status", "s3://lake/a b"]


def test_the_entry_of_the_image_runs_an_executor(entrypoint):
    """As Spark's scheduler for Kubernetes starts one: options of Java in their order, the rest by variables."""
    told = {"DRIVER_URL": "spark://d", "EXECUTOR_ID": "3", "EXECUTOR_CORES": "4", "EXECUTOR_MEMORY": "1g",
            "APPLICATION_ID": "app", "EXECUTOR_POD_IP": "10.0.0.9", "RESOURCE_PROFILE_ID": "0",
            "EXECUTOR_POD_NAME": "applier-exec-3", "CONF_DIR": "/opt/spark/conf"}
    told |= {f"JAVA_OPT_{number}": f"-Dnumber={number} x=y" for number in range(11)}
    words = entrypoint("executor", **{f"SPARK_{name}": value for name, value in told.items()})
    assert words[:14] == ["java", *(f"-Dnumber={number} x=y" for number in range(11)), "-Xms1g", "-Xmx1g"]
    class_path = words[words.index("-cp") + 1].split(":")
    assert class_path[0] == "/opt/spark/conf" and list(Path(class_path[1]).parent.glob("spark-kubernetes_*.jar"))
    options = dict(zip(words[-14::2], words[-13::2], strict=True))
    assert options == {"--driver-url": "spark://d", "--executor-id": "3", "--cores": "4", "--app-id": "app",
                       "--hostname": "10.0.0.9", "--resourceProfileId": "0", "--podName": "applier-exec-3"}


# ── Airflow ──


class Task:
    """A BashOperator that is started by nobody; `tasks` has all of them, `after` the names that one waits for."""

    tasks: list

    def __init__(self, task_id, bash_command, **_):
        self.task_id, self.bash_command, self.after = task_id, bash_command, []
        self.tasks.append(self)

    def __rshift__(self, others):
        for other in others if isinstance(others, list) else [others]:
            other.after.append(self.task_id)
        return others

    def __rrshift__(self, others):
        for other in others:
            other >> self
        return self


@pytest.fixture
def tasks(monkeypatch):
    """The tasks of the DAG, which is imported with a stub of Airflow's."""
    made = []
    operators, sdk = types.ModuleType("bash"), types.ModuleType("sdk")
    operators.BashOperator = type("BashOperator", (Task,), {"tasks": made})
    sdk.DAG = contextmanager(lambda **given: iter([given]))
    for name in ("airflow", "airflow.providers", "airflow.providers.standard", "airflow.providers.standard.operators"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "airflow.providers.standard.operators.bash", operators)
    monkeypatch.setitem(sys.modules, "airflow.sdk", sdk)
    spec = importlib.util.spec_from_file_location("shop_lake", EXAMPLES / "airflow" / "shop_lake.py")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return {task.task_id: task for task in made}


def test_tasks_of_the_dag_have_commands_and_an_order(tasks, parse):
    given = {}
    for name, task in tasks.items():
        program, *words = shlex.split(task.bash_command)
        assert program == "applier"
        given[name] = parse(words)
    assert given["replay"]["lake"] == given["publish"]["snapshot"] == given["fsck"]["lake"] == given["expire"]["lake"]
    assert {name: sorted(task.after) for name, task in tasks.items()} == {
        "replay": [], "publish": ["replay"], "fsck": ["replay"], "expire": ["fsck", "publish"]}


# ── The container file ──


def stages():
    """The stages of the Dockerfile: the instructions of each, with its continued lines in one."""
    found = {}
    for line in re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text()).splitlines():
        if start := re.fullmatch(r"FROM (\S+) AS (\S+)", line):
            found[start[2]] = [start[1]]
        elif found and line:
            found[next(reversed(found))].append(line)
    return found


def copied(lines):
    """What a stage has from the checkout, and where."""
    for line in lines:
        if line.startswith("COPY ") and "--from=" not in line:
            *sources, target = [word for word in line.split()[1:] if not word.startswith("--")]
            yield from ((source, target) for source in sources)


def test_stages_start_from_stages_and_copy_what_is_there():
    known = stages()
    for name, (base, *lines) in known.items():
        assert base == "${PYTHON}" or base in list(known)[:list(known).index(name)]
        assert all((ROOT / source).exists() for source, _ in copied(lines))
    assert list(known)[-1] == "applier", "what is built without --target"


def imported(file):
    """The files of tests/ that one of them imports, and those that these do."""
    found = {file}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            path = ROOT / node.module.replace(".", "/")
            files = [path.with_suffix(".py"), *(path / f"{name.name}.py" for name in node.names)]
            found |= {inner for one in files if one.exists() for inner in imported(one)}
    return found


def test_extras_that_are_installed_are_those_of_the_package():
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    named = re.findall(r"\.whl\)\[([\w,]+)\]", (ROOT / "Dockerfile").read_text())
    assert named and {name for names in named for name in names.split(",")} <= set(settings["options.extras_require"])


def test_the_demo_has_the_files_that_it_imports():
    _, *lines = stages()["demo"]
    [module] = [words[words.index("-m") + 1] for line in lines if line.startswith("ENTRYPOINT")
                for words in [ast.literal_eval(line.removeprefix("ENTRYPOINT "))]]
    there = [ROOT / source for source, _ in copied(lines)]
    for file in imported(ROOT / f"{module.replace('.', '/')}.py"):
        assert any(file == place or place in file.parents for place in there), file


def test_what_is_not_copied_is_not_what_is_built_from():
    """.dockerignore names no folder that a stage copies, and no package."""
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    sources = {source for lines in stages().values() for source, _ in copied(lines)} - {"."}
    parts = {part for source in sources for part in Path(source).parts}
    assert not {"applier", "jsondiff", "keysearch", "build-backend", "setup.cfg", *parts} & set(patterns)
