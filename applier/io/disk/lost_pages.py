"""Mapped files that shrink: missing pages read as zeros, instead of ending the process.

Reading a page of a mapping beyond the file's end raises SIGBUS, and only a signal handler can continue from
there. This one maps zeros instead of the missing pages, and records that: zeros are not events, so the reader
finds damage and then reports the cause (MappedFile.check_whole). The signal arrives in the reading thread,
while it copies or a kernel runs; the handler waits for the interpreter and returns to the instruction that
failed.

Reading files into memory instead of mapping them would need no handler, but memory for all row images that are alive,
and three times the CPU of reading, which is a fifth more of a whole replay (measured on 200 MB of OLTP). Only Linux on
64 bits is handled: elsewhere the process ends.
"""

import ctypes
import mmap
import signal
import sys
import threading
import weakref
from typing import Any

_IS_HANDLED = sys.platform == "linux" and ctypes.sizeof(ctypes.c_void_p) == 8
_ADDRESS_AT = 16
"""Of the address in siginfo_t, after three numbers of four bytes and four that pad."""
_WITH_INFO, _ON_ANY_STACK = 0x4, 0x08000000
_FIXED = 0x10
"""MAP_FIXED, which Python's mmap does not name."""


class _Action(ctypes.Structure):
    """struct sigaction as C libraries on Linux have it."""

    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ulong * 16), ("flags", ctypes.c_int),
                ("restorer", ctypes.c_void_p)]


_Handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_lock = threading.Lock()
_mapped: dict[int, int] = {}
_lost: set[int] = set()
_installed: list[Any] = []


def guard(memory: mmap.mmap, address: int) -> None:
    """Have lost pages of a mapping read as zeros, as long as the mapping exists."""
    if not _IS_HANDLED:
        return
    with _lock:
        if not _installed:
            _install()
    _mapped[address] = address + len(memory)
    weakref.finalize(memory, _forget, address)


def has_lost(address: int) -> bool:
    """Return whether lost pages of the mapping at an address were read."""
    return address in _lost


def _forget(address: int) -> None:
    _mapped.pop(address, None)
    _lost.discard(address)


def _install() -> None:
    library, before = ctypes.CDLL(None), _Action()
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]

    def handle(number: int, information: int, _: int) -> None:
        address = ctypes.c_size_t.from_address(information + _ADDRESS_AT).value
        for start, end in list(_mapped.items()):
            if start <= address < end:
                _lost.add(start)
                page = address // mmap.PAGESIZE * mmap.PAGESIZE
                flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED
                if library.mmap(page, end - page, mmap.PROT_READ, flags, -1, 0) == page:
                    return
        library.sigaction(number, ctypes.byref(before), None)  # not ours: it comes again, to whom it came before

    handler = _Handler(handle)
    action = _Action(ctypes.cast(handler, ctypes.c_void_p).value, flags=_WITH_INFO | _ON_ANY_STACK)
    library.sigaction(signal.SIGBUS, ctypes.byref(action), ctypes.byref(before))
    _installed.extend((library, before, handler))
