"""How the kernels of this package are compiled."""

from numba import njit

kernel = njit(cache=True, nogil=True, error_model="numpy")
"""Decorator of a function that Python calls: compiled once for a machine and kept on disk."""
inline = njit(nogil=True, error_model="numpy")
"""Decorator of a function that only kernels call: compiled into each of them."""
