"""A cache of values that several threads make and use."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

_Made = TypeVar("_Made")


@dataclass
class Recent:
    """A cache of recent values, limited in number and bytes. A key always stands for the same value."""

    most: int
    most_bytes: int
    _values: OrderedDict[object, tuple[Any, int]] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _lock: Any = field(default_factory=threading.Lock)
    making: dict[object, Any] = field(default_factory=dict)
    """A lock for each key whose value a thread makes."""

    def get(self, key: object, make: Callable[[], _Made], size: Callable[[_Made], int]) -> _Made:
        """Return the value of a key. If it is not in the cache, one thread makes it, and others wait for it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                found: _Made = self._values[key][0]
                return found
            turn = self.making.setdefault(key, threading.Lock())
        with turn:
            if key in self._values:
                return self.get(key, make, size)
            made = make()
            n_bytes = size(made)
            with self._lock:
                if key not in self._values:  # else made by one that began when another's was already dropped
                    self._values[key], self._bytes = (made, n_bytes), self._bytes + n_bytes
                self.making.pop(key, None)
                while len(self._values) > self.most or self._bytes > self.most_bytes:
                    self._bytes -= self._values.popitem(last=False)[1][1]
        return made
