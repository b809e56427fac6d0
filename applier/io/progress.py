"""The events that a long job reports to its watcher. The job knows this protocol, never a terminal."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Progress(Protocol):
    """Watches one job. Phases follow one another; counts are totals since the phase began, so a call may be lost."""

    def phase(self, name: str, total: int, what: str) -> None:
        """A phase begins: `name` ("outline") works on `total` items of `what` ("files"); 0 if unknown."""

    def update(self, done: int, rows: int = 0) -> None:
        """Report how many items of the phase are done, and how many row changes. Cheap; may be called often."""

    def note(self, text: str) -> None:
        """Report something a person should know, for example a torn tail that is left out. It stays on the screen."""


class Silent:
    """A watcher that ignores everything."""

    def phase(self, name: str, total: int, what: str) -> None:
        pass

    def update(self, done: int, rows: int = 0) -> None:
        pass

    def note(self, text: str) -> None:
        pass
