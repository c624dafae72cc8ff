"""Client of Dermaga, a speedboat booking platform."""

from . import types
from .client import Dermaga
from .errors import (
    ApiError,
    ConflictError,
    DermagaError,
    ForbiddenError,
    NetworkError,
    NotFoundError,
    OutcomeUnknownError,
    RateLimitedError,
    RequestTimeoutError,
    UnauthenticatedError,
    UnavailableError,
    ValidationError,
)
from .files import File
from .page import Page, PageWith
from .transport import VERSION as __version__
from .transport import Session

__all__ = [
    "ApiError",
    "ConflictError",
    "Dermaga",
    "DermagaError",
    "File",
    "ForbiddenError",
    "NetworkError",
    "NotFoundError",
    "OutcomeUnknownError",
    "Page",
    "PageWith",
    "RateLimitedError",
    "RequestTimeoutError",
    "Session",
    "UnauthenticatedError",
    "UnavailableError",
    "ValidationError",
    "__version__",
    "types",
]
