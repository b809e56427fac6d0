"""Checks a replay's requirements on the machine: Spark, Java, kernels, memory, disks, and remote stores."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pyarrow import fs

from applier.engine import compiling, room
from applier.engine.choice import Choice
from applier.engine.spark import java
from applier.errors import ApplierError, UsageError, reason
from applier.io.disk.temporary import temporary_directory
from applier.io.printable import shown_size
from applier.io.resolver import is_far, resolve
from applier.jobs.doctor.plan import Cost
from applier.jobs.doctor.result import Findings
from applier.options import DoctorOptions
from applier.snapshot.publish import begin

_PERMIT = "check the bucket's name, and give credentials that may list it: for s3:// AWS_ACCESS_KEY_ID and " \
          "AWS_SECRET_ACCESS_KEY, for gs:// GOOGLE_APPLICATION_CREDENTIALS; endpoint_override=… in the URI names " \
          "another server"


def look_at_spark(findings: Findings, chosen: Choice, master: str | None) -> None:
    """Return whether Spark could start. It is a problem only if a replay would need it; nothing is started."""
    if not (home := _is_there(findings, "Spark", java.spark_home, chosen)):
        return
    findings.ok("Spark", str(home))
    if chosen.engine == "spark" and master is not None and master.startswith("sc://"):
        findings.ok("Java", "not needed: Spark Connect runs elsewhere")
        return
    if found := _is_there(findings, "Java", java.find_java, chosen):
        number = java.version_of(found)
        findings.ok("Java", f"{found}" + (f", version {number}" if number is not None else ""))


def _is_there(findings: Findings, name: str, find: Callable[[], Path], chosen: Choice) -> Path | None:
    """Report whether a part of Spark exists, and return it; None if not."""
    try:
        return find()
    except UsageError as error:
        if chosen.engine == "spark":
            error.hint = f"{error.hint}; or replay with --engine local"
            findings.problem(name, error)
        else:
            findings.note(name, f"{error.message}: a replay in this process needs none", error.hint or "")
        return None


def look_at_kernels(findings: Findings) -> None:
    """Return whether a replay's kernels are compiled, or else can be."""
    missing, total = compiling.missing_for("replay"), len(compiling.modules_for("replay"))
    if not missing:
        findings.ok("kernels", f"all {total:,} modules are compiled that a replay needs")
        return
    try:
        compiling.lock_cache().close()
    except UsageError as error:
        findings.problem("kernels", error, f"; {len(missing):,} of {total:,} modules are not compiled")
        return
    [cache] = {stamp.parent.parent for stamp in missing.values()}
    findings.note("kernels", f"{len(missing):,} of {total:,} modules are not compiled: the first replay does it, and "
                  f"keeps them in {cache}", "python -m applier.jobs.warm compiles all of them now")


def look_at_room(findings: Findings, cost: Cost | None) -> None:
    """Return whether memory and disks have room for what the plan takes."""
    memory = room.memory_bytes()
    what = f"{shown_size(memory)} on this machine"
    if cost is None:
        findings.ok("memory", what)
    elif cost.bytes_at_once > memory // 2:
        findings.note("memory", f"{what}; tasks have rows of up to {shown_size(cost.bytes_at_once)} at a time",
                      "run it on a larger machine, or on Spark's workers with --master")
    else:
        findings.ok("memory", f"{what}; tasks have rows of up to {shown_size(cost.bytes_at_once)} at a time")
    for name, path, needed in (("temporary files", temporary_directory(), cost and cost.copied_bytes),
                                ("spilled changes", room.spilling_directory(), cost and cost.spilled_bytes)):
        if name == "spilled changes" and not needed:
            continue
        try:
            free = room.free_bytes(path)
        except OSError as error:
            findings.problem(name, UsageError(f"cannot determine the free space: {reason(error)}", file=path,
                                              hint="set TMPDIR to a directory that exists"))
            continue
        found = f"{shown_size(free)} are free in {path}"
        if needed and needed > free:
            findings.note(name, f"{found}, and about {shown_size(needed)} are needed",
                          "name a larger directory in TMPDIR" if name == "temporary files" else
                          "name a larger directory in SPARK_LOCAL_DIRS")
        else:
            findings.ok(name, found + (f", about {shown_size(needed)} are needed" if needed else ""))


def look_at_output(findings: Findings, options: DoctorOptions, cost: Cost | None) -> None:
    """Return whether a snapshot can be made there, by preparing one; nothing is left of it."""
    if not options.output:
        return
    path = None if is_far(options.output) else Path(resolve(options.output)[1]).parent
    made = [] if path is None else [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        with begin(options.output):
            free = None if path is None else room.free_bytes(str(path))
    except ApplierError as error:
        findings.problem("output", error)
        return
    finally:
        with suppress(OSError):
            for folder in made:
                os.rmdir(folder)
    if free is None:
        findings.ok("output", f"{options.output} can be written")
    elif cost is not None and cost.row_bytes > free:
        findings.note("output", f"{options.output} can be written; {shown_size(free)} are free there, and the log has "
                      f"{shown_size(cost.row_bytes)} of rows", "make room, as the snapshot may need as much")
    else:
        findings.ok("output", f"{options.output} can be written, {shown_size(free)} are free there")


def look_at_stores(findings: Findings, options: DoctorOptions) -> bool:
    """Report whether remote directories can be listed; return False if not, since nothing there can be looked at
    then."""
    can_list = True
    for location in filter(is_far, filter(None, options.locations)):
        try:
            filesystem, path = resolve(location)
            filesystem.get_file_info(fs.FileSelector(path, allow_not_found=True))
        except (OSError, UsageError) as error:
            found = error.message if isinstance(error, UsageError) else f"it cannot be listed: {reason(error)}"
            findings.problem("credentials", UsageError(found, file=location, hint=_PERMIT))
            can_list = False
        else:
            findings.ok("credentials", f"{location} can be listed")
    return can_list


