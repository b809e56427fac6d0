"""Looks at everything that a replay needs before it begins, and says of each whether it is well and what to do.

    machine     Java, kernels, memory, disks, stores
    log         the files of an archive, their heads, and what the files hold as a whole
    contents    how changes are logged: formats, images, metadata
    plan        definitions, columns, and what a replay would cost
    job         all of these, in the order in which people read them
    result      what was found
"""

__all__ = ["job", "result"]
