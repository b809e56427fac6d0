"""Transient errors of an object store: distinguished from permanent ones, and retried with backoff."""

import random
import re
import time
from collections.abc import Callable
from typing import TypeVar

from applier.errors import ApplierError, StoreUnavailable, reason

Result = TypeVar("Result")

ATTEMPTS = 4
FIRST_PAUSE = 0.25
"""Seconds, at most, before the second attempt; each later pause is twice as long."""
_TRANSIENT = re.compile(
    r"HTTP status (429|5\d\d)\b|curlCode|\b(SLOW_DOWN|SERVICE_UNAVAILABLE|THROTTLING|INTERNAL_FAILURE|"
    r"NETWORK_CONNECTION|REQUEST_TIMEOUT|UNAVAILABLE|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED)\b|TransportException")
_FORBIDDEN = re.compile(r"HTTP status 40[13]\b|\bACCESS_DENIED\b|\bPERMISSION_DENIED\b|\bUNAUTHENTICATED\b|"
                        r"OAuth2 access token|AuthenticationException|AuthorizationFailure")


def is_transient(error: BaseException) -> bool:
    """True if the same request may succeed a little later: the store is busy, or the network failed."""
    if isinstance(error, ConnectionError | TimeoutError | StoreUnavailable):
        return not isinstance(error, BrokenPipeError)
    return isinstance(error, OSError) and error.errno is None and not is_forbidden(error) \
        and _TRANSIENT.search(str(error)) is not None


def is_forbidden(error: BaseException) -> bool:
    """True if the credentials do not allow the request, or there are none."""
    return isinstance(error, PermissionError) or (
        not isinstance(error, ApplierError) and _FORBIDDEN.search(str(error)) is not None)


def comes_of(error: BaseException, is_cause: Callable[[BaseException], bool]) -> bool:
    """True if this is so of an error or of one that it was raised for."""
    at: BaseException | None = error
    seen = set[int]()  # an error may be raised from itself
    while at is not None and id(at) not in seen:
        if is_cause(at):
            return True
        seen.add(id(at))
        at = at.__cause__
    return False


def retried(request: Callable[[], Result], location: str) -> Result:
    """Return the result of a request to the store of a location. A transient error is retried with backoff. Raises
    StoreUnavailable after the last attempt; other errors are the request's own."""
    for attempt in range(ATTEMPTS):
        try:
            return request()
        except OSError as error:
            if not is_transient(error):
                raise
            last = error
        if attempt < ATTEMPTS - 1:
            time.sleep(FIRST_PAUSE * 2**attempt * random.uniform(0.5, 1))
    raise unavailable(last, location) from last


def unavailable(error: OSError, location: str | None) -> StoreUnavailable:
    """The error for a transient one that stayed."""
    return StoreUnavailable(f"the store did not answer: {reason(error)}", file=location,
                            hint="nothing was published; run it again later")
