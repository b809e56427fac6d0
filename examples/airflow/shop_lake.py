"""A lake that follows an archive of binlogs, once an hour: a DAG of Airflow 3.

Workers need `pip install 'mysql-binlog-applier[lake]'`, and S3's credentials in their environment. Each step may run
again: a replay that finds nothing new makes no version, and a version that is published is not published twice.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

BINLOGS = "s3://backup/binlogs"
LAKE = "s3://lake/shop"
DELTA = "s3://lake/delta"

with DAG(
    dag_id="shop_lake",
    schedule="@hourly",
    start_date=datetime(2026, 1, 1),
    catchup=False,  # one run brings the lake to the end of the log, however many were missed
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=1), "append_env": True},
):
    replay = BashOperator(
        task_id="replay",
        bash_command=f"applier replay -q --binlogs {BINLOGS} --lake {LAKE} --engine local",
        execution_timeout=timedelta(hours=1),
    )
    publish = BashOperator(task_id="publish", bash_command=f"applier publish -q {LAKE} --delta {DELTA}")
    fsck = BashOperator(task_id="fsck", bash_command=f"applier fsck -q {LAKE} --quick")
    expire = BashOperator(task_id="expire", bash_command=f"applier expire -q {LAKE} --keep 7d")
    replay >> [publish, fsck] >> expire
