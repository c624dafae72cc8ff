"""What can go wrong with a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .types import Fault


class DermagaError(Exception):
    """Base class of all errors of this package."""


class NetworkError(DermagaError):
    """No answer, or only a part of it. The cause is `__cause__`.

    A change may have been carried out.
    """


class RequestTimeoutError(NetworkError):
    """The service did not answer within the time-out."""


class ApiError(DermagaError):
    """An error that the service answered."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        fields: list[Fault] | None = None,
        data: Any = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        rules = ", ".join(f"{fault['field']}: {fault['rule']}" for fault in fields or [])
        super().__init__(f"{status} {code}: {message}" + (f" ({rules})" if rules else ""))
        self.status = status
        """HTTP status."""
        self.code = code
        """Stable code, such as `sold_out`; `http_502` if the answer is not one of the service."""
        self.message = message
        """For people, in the language of the client."""
        self.fields = fields or []
        """The invalid fields of a `ValidationError`."""
        self.data = data
        """Details, such as `available_seats` of `sold_out`."""
        self.request_id = request_id
        """Identifies the request in the log of the service."""
        self.retry_after = retry_after
        """Seconds after which the request can be sent again."""


class ValidationError(ApiError):
    """422: fields are invalid. `fields` lists all of them."""


class UnauthenticatedError(ApiError):
    """401: not signed in, or wrong credentials."""


class ForbiddenError(ApiError):
    """403: the account may not do this."""


class NotFoundError(ApiError):
    """404: it does not exist, or the caller may not see it."""


class ConflictError(ApiError):
    """409: the current state does not allow it. `code` says why."""


class RateLimitedError(ApiError):
    """429: too many requests. `retry_after` says how long to wait."""


class UnavailableError(ApiError):
    """503: the service is busy or being restarted."""


class OutcomeUnknownError(UnavailableError):
    """503 `outcome_unknown`: the change may have been made. Check before sending it again."""


BY_STATUS: dict[int, type[ApiError]] = {
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: ValidationError,
    429: RateLimitedError,
    503: UnavailableError,
}


def api_error(status: int, headers: Mapping[str, str], content: bytes) -> ApiError:
    """The error of an answer. `headers` has lower-case names."""
    body: dict[str, Any] = {}
    try:
        read = json.loads(content)
        # A proxy may answer in its own words.
        if isinstance(read, dict) and isinstance(read.get("error"), str):
            body = read
    except ValueError:
        pass
    code = body.get("error", f"http_{status}")
    kind = OutcomeUnknownError if code == "outcome_unknown" else BY_STATUS.get(status, ApiError)
    seconds = headers.get("retry-after", "")
    return kind(
        status,
        code,
        body.get("message", "The answer is not one of the service."),
        fields=body.get("errors"),
        data=body.get("data"),
        request_id=body.get("request_id") or headers.get("x-request-id"),
        retry_after=float(seconds) if seconds.isdigit() else None,
    )
