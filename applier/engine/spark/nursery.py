"""The first local worker daemon of a command line, forked from the driver instead of starting as a Python of its own.

The driver has just imported what the workers need, so a fork of it saves them seconds. Before the driver has a thread
it forks the nursery, which loads the rest and waits. Spark starts its daemon by name as ever; that process finds the
nursery by an environment variable, gives it its standard streams and its environment over a socket, and stays only as
its stand-in for signals and the exit status. Where there is no nursery, the daemon does everything itself.

Its workers share the driver's seed of string hashes, not Spark's PYTHONHASHSEED, on which no stage here depends.

The nursery holds nothing of the driver open. It ends with the driver as long as nobody has called for it, and then as
pyspark's daemon does: when the JVM closes its standard input.
"""

import json
import os
import select
import signal
import socket
import sys
import threading
from pathlib import Path

VARIABLE = "APPLIER_NURSERY"  # the socket's path, in the environment of the daemons of a local master

_STREAMS = (0, 1, 2)

_place: str | None = None
_lifeline: int | None = None  # a pipe's end that nobody writes to: the nursery reads its end when this process is gone


def start() -> bool:
    """Fork the nursery; False where this process is not one to be forked: it has threads, or it has one already.

    To be called by a main thread that has imported what it shares (see `forking.start_no_threads`).
    """
    global _place, _lifeline
    if _place is not None or not _single_threaded():
        return False
    from applier.engine.spark.scratch import Scratch  # here, as a stand-in shall start quickly

    directory = Scratch()
    place = os.path.join(directory.path, "nursery")
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(place)
    except OSError:  # the name is too long for a socket's
        listener.close()
        return False
    listener.listen(1)
    ours, theirs = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork() == 0:
        try:
            os.setpgid(0, 0)  # Ctrl-C is for the driver
            _keep_open(*(file for file in (ours, listener.fileno(), directory.lock) if file is not None))
            _serve(listener, ours, Path(place))
        finally:
            os._exit(1)
    os.close(ours)
    listener.close()
    directory.leave()
    _place, _lifeline = place, theirs
    return True


def settings() -> dict[str, str]:
    """Spark's settings by which the daemon finds the nursery."""
    return {} if _place is None else {f"spark.executorEnv.{VARIABLE}": _place}


def delegate_to_preforked() -> None:
    """In a daemon that Spark has started: let the nursery do its work, and end as it ends. Returns if there is none."""
    place = os.environ.get(VARIABLE)
    if place is None:
        return
    with socket.socket(socket.AF_UNIX) as nursery:
        try:
            nursery.connect(place)
            socket.send_fds(nursery, [b"."], _STREAMS)
            nursery.sendall(json.dumps([sys.argv, sys.path, dict(os.environ)]).encode())
            nursery.shutdown(socket.SHUT_WR)
            pid = int.from_bytes(nursery.recv(4))
        except OSError:
            return
        if pid == 0:  # it has ended without an answer
            return
        signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
        status = nursery.recv(1)
    os._exit(status[0] if status else 1)


def _single_threaded() -> bool:
    """Whether only this thread would be missed in a fork: neither Python nor a library has started another."""
    tasks = Path("/proc/self/task")
    return threading.active_count() == 1 and tasks.is_dir() and len(list(tasks.iterdir())) == 1


def _keep_open(*kept: int) -> None:
    """Close all files but `kept`: the driver's would stay open as long as workers live, and so would its readers."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in _STREAMS:
        os.dup2(null, stream)
    low = len(_STREAMS)
    for number in sorted(kept):
        os.closerange(low, number)
        low = number + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def _serve(listener: socket.socket, lifeline: int, place: Path) -> None:
    """Load what the driver did not need, wait for Spark's daemon, and be it."""
    from applier.engine.spark import forking  # a stand-in does without

    try:
        forking.preload()
        ready = select.select([listener, lifeline], [], [])[0]
        if listener not in ready:
            return
        caller, _ = listener.accept()
    finally:
        place.unlink(missing_ok=True)
        place.parent.rmdir()
        listener.close()
        os.close(lifeline)
    status = 1
    with caller:
        _take_over(caller)
        os.register_at_fork(after_in_child=caller.close)  # workers shall not keep the stand-in waiting
        caller.sendall(os.getpid().to_bytes(4))
        try:
            forking.serve()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        caller.sendall(bytes([status]))
    os._exit(status)


def _take_over(caller: socket.socket) -> None:
    """Become the caller in all that pyspark's daemon looks at: streams, arguments, module path and environment."""
    from applier.engine.spark.forking import start_no_threads

    _, streams, _, _ = socket.recv_fds(caller, 1, len(_STREAMS))
    for number, stream in zip(_STREAMS, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode, closefd=False)
                                         for number, mode in zip(_STREAMS, "rww", strict=True))
    with caller.makefile("rb") as told:
        sys.argv, sys.path[:], environment = json.load(told)
    os.environ.clear()
    os.environ.update(environment)
    start_no_threads()
