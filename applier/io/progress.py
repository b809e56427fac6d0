"""What a long job tells whoever watches it. The job knows this protocol, never a terminal."""

from typing import Protocol


class Progress(Protocol):
    """Watches one job. Phases follow one another; counts are totals since the phase began, so a call may be lost."""

    def phase(self, name: str, total: int, what: str) -> None:
        """A phase begins: `name` says what is done ("outline"), to `total` pieces of `what` ("files"); 0 if unknown."""

    def update(self, done: int, rows: int = 0) -> None:
        """So many pieces of the phase are done, and so many row changes with them. Cheap; may be called often."""

    def note(self, text: str) -> None:
        """Something a person should know, such as a torn tail that is left out. Kept on the screen."""


class Silent:
    """Nobody watches."""

    def phase(self, name: str, total: int, what: str) -> None:
        pass

    def update(self, done: int, rows: int = 0) -> None:
        pass

    def note(self, text: str) -> None:
        pass
