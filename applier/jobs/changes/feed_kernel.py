# mypy: allow-untyped-defs, no-check-untyped-defs
"""Computes the columns of the feed that describe the images of a batch."""

from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from keysearch.memory import kernel


@kernel
def describe(first, end, kinds, positions, rows, seqs, before_rows, after_rows, before_images, images, types, own_types,
             own_positions, own_rows, own_seqs, own_layouts):
    """Describe the images of changes first … end of a batch, each one's before-image first: `types` of changes by kind
    and whether it is the image before, offsets of events, rows in these, `seqs` of changes, layouts. How many images
    there are."""
    n = 0
    for change in range(first, end):
        if before_rows[change] >= 0:
            own_types[n] = types[kinds[change], 1]
            own_positions[n] = positions[change]
            own_rows[n] = rows[change]
            own_seqs[n] = seqs[change]
            own_layouts[n] = before_images[change] >> IMAGE_ID_SHIFT
            n += 1
        if after_rows[change] >= 0:
            own_types[n] = types[kinds[change], 0]
            own_positions[n] = positions[change]
            own_rows[n] = rows[change]
            own_seqs[n] = seqs[change]
            own_layouts[n] = images[change] >> IMAGE_ID_SHIFT
            n += 1
    return n
