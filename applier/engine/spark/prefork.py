"""The first local worker daemon of a command line, forked from the driver instead of starting as a new Python.

The driver has just imported what the workers need, so a fork of it saves them seconds. Before the driver has a second
thread, it forks the preforked daemon, which loads the rest and waits. Spark starts its daemon by name as usual; that
process finds the preforked one by an environment variable, passes its standard streams and environment over a socket,
and then only forwards signals and the exit status. Without a preforked process, Spark's daemon does the work itself.

The workers share the driver's seed of string hashes, not Spark's PYTHONHASHSEED; no stage here depends on it.

The preforked process keeps none of the driver's files open. It ends with the driver if nobody has called it, else as
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

VARIABLE = "APPLIER_PREFORKED"  # the socket's path, in the environment of the daemons of a local master

_STREAMS = (0, 1, 2)

_place: str | None = None
_parent_pipe: int | None = None  # an end of a pipe that nobody writes to: its other end closes when this process ends


def start() -> bool:
    """Fork the preforked daemon; False if this process cannot be forked: it has several threads, or has forked one
    already.

    Call it from a main thread that has imported what workers share (see `forking.start_no_threads`).
    """
    global _place, _parent_pipe
    if _place is not None or not _single_threaded():
        return False
    from applier.engine.spark.scratch import Scratch  # imported here, so that a delegating daemon starts quickly

    directory = Scratch()
    place = os.path.join(directory.path, "prefork")
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
    _place, _parent_pipe = place, theirs
    return True


def settings() -> dict[str, str]:
    """Spark's settings by which its daemon finds the preforked one."""
    return {} if _place is None else {f"spark.executorEnv.{VARIABLE}": _place}


def delegate_to_preforked() -> None:
    """In a daemon that Spark has started: let the preforked one do the work, and exit as it exits. Returns if there is
    none."""
    place = os.environ.get(VARIABLE)
    if place is None:
        return
    with socket.socket(socket.AF_UNIX) as prefork:
        try:
            prefork.connect(place)
            socket.send_fds(prefork, [b"."], _STREAMS)
            prefork.sendall(json.dumps([sys.argv, sys.path, dict(os.environ)]).encode())
            prefork.shutdown(socket.SHUT_WR)
            pid = int.from_bytes(prefork.recv(4))
        except OSError:
            return
        if pid == 0:  # it has ended without an answer
            return
        signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
        status = prefork.recv(1)
    os._exit(status[0] if status else 1)


def _single_threaded() -> bool:
    """True if the process has a single thread, counting those of libraries, so forking is safe."""
    tasks = Path("/proc/self/task")
    return threading.active_count() == 1 and tasks.is_dir() and len(list(tasks.iterdir())) == 1


def _keep_open(*kept: int) -> None:
    """Close all files but `kept`: otherwise the driver's would stay open as long as the workers run, and their readers
    wait."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in _STREAMS:
        os.dup2(null, stream)
    low = len(_STREAMS)
    for number in sorted(kept):
        os.closerange(low, number)
        low = number + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def _serve(listener: socket.socket, parent_pipe: int, place: Path) -> None:
    """Load what the driver did not need, wait for Spark's daemon, and take over from it."""
    from applier.engine.spark import forking, spark_private  # a delegating daemon does not need it

    try:
        forking.preload()
        sources: list[socket.socket | int] = [listener, parent_pipe]
        ready = select.select(sources, [], [])[0]
        if listener not in ready:
            return
        caller, _ = listener.accept()
    finally:
        place.unlink(missing_ok=True)
        place.parent.rmdir()
        listener.close()
        os.close(parent_pipe)
    status = 1
    with caller:
        _take_over(caller)
        os.register_at_fork(after_in_child=caller.close)  # workers must not keep the delegating daemon waiting
        caller.sendall(os.getpid().to_bytes(4))
        try:
            spark_private.serve_forks()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        caller.sendall(bytes([status]))
    os._exit(status)


def _take_over(caller: socket.socket) -> None:
    """Take over everything of the caller that pyspark's daemon uses: streams, arguments, module path and environment.
    """
    from applier.engine.spark.forking import start_no_threads

    _, streams, _, _ = socket.recv_fds(caller, 1, len(_STREAMS))
    for number, stream in zip(_STREAMS, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode, closefd=False)
                                         for number, mode in zip(_STREAMS, "rww", strict=True))
    with caller.makefile("rb") as received:
        sys.argv, sys.path[:], environment = json.load(received)
    os.environ.clear()
    os.environ.update(environment)
    start_no_threads()
