"""Workers are forked with everything loaded, from a process without threads."""

import subprocess
import sys

from applier.spark.daemon import PRELOADED
from applier.spark.stages import map_tasks


def test_workers_come_with_their_modules(spark):
    def loaded(names):
        import gc
        import sys

        return [name for name in names if name not in sys.modules], gc.get_freeze_count()

    [(missing, frozen)] = map_tasks(spark, loaded, [PRELOADED])
    assert missing == []
    assert frozen > 10_000


def test_no_thread_lives_when_it_forks():
    code = "import os; from applier.spark import daemon; daemon.preload(); print(len(os.listdir('/proc/self/task')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("1\n", "")


def test_a_module_that_cannot_be_imported_is_told_and_left_out():
    code = ("import sys; from applier.spark import daemon; daemon.preload(('no.such.module', 'wave')); "
            "print('wave' in sys.modules)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n" and "No module named 'no'" in run.stderr
