"""Checks everything that a replay needs before it begins, and reports for each check the finding and what to do.

    machine     Java, kernels, memory, disks, stores
    log         the files of an archive, their heads, and their consistency
    contents    how changes are logged: formats, images, metadata
    plan        definitions, columns, and the cost of a replay
    job         all of these, in the order of the output
    result      the findings
"""

__all__ = ["job", "result"]
