import subprocess
import sys
import threading
import time

from applier import warm


def test_a_warm_process_has_called_every_kernel():
    """A new kernel that `exercise` does not reach would be compiled by several Spark workers at once."""
    program = """if True:
        from applier import warm
        warm.exercise()
        kernels = warm.kernels()
        print([f"{k.__module__}.{k.__name__}" for k in kernels if not k.signatures], len(kernels))
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    cold, count = done.stdout.rsplit(" ", 1)
    assert cold == "[]" and int(count) > 10


def test_of_many_at_once_one_compiles_and_the_others_wait(tmp_path, monkeypatch):
    calls, answers, notes = [], [], []

    def slow_exercise():
        calls.append(time.monotonic())
        time.sleep(0.2)

    monkeypatch.setattr(warm, "_cache", lambda: tmp_path / "cache")
    monkeypatch.setattr(warm, "exercise", slow_exercise)
    threads = [threading.Thread(target=lambda: answers.append((warm.ensure(notes.append), time.monotonic())))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == len(notes) == 1
    assert sorted(compiled for compiled, _ in answers) == [False, False, False, True]
    assert min(at for _, at in answers) >= calls[0] + 0.2
    assert not warm.ensure(notes.append) and len(notes) == 1


def test_a_failed_compilation_leaves_no_stamp(tmp_path, monkeypatch):
    def fails():
        raise ZeroDivisionError

    monkeypatch.setattr(warm, "_cache", lambda: tmp_path)
    monkeypatch.setattr(warm, "exercise", fails)
    for _ in range(2):
        try:
            warm.ensure()
        except ZeroDivisionError:
            pass
        else:
            raise AssertionError("ensure() hid the failure")
