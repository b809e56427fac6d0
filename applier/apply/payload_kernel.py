"""Copying row images out of the log, for a shuffle."""

from keysearch.memory import copy_bytes, kernel


@kernel
def copy_images(addresses, offsets, target):
    """Copy images, image i from addresses[i], to offsets[i] … offsets[i + 1] from the address `target`."""
    for i in range(addresses.shape[0]):
        copy_bytes(target + offsets[i], addresses[i], offsets[i + 1] - offsets[i])
