// What can go wrong with a request.

import type { ErrorBody, Fault } from "./generated/types.js";

/** Base class of all errors of this package. */
export class DermagaError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer, or only a part of it (`cause`). A change may have been carried out. */
export class NetworkError extends DermagaError {}

/** The service did not answer within the time-out. */
export class RequestTimeoutError extends NetworkError {}

/** An error that the service answered. */
export class ApiError extends DermagaError {
  /** HTTP status. */
  readonly status: number;
  /** Stable code, such as `sold_out`; `http_502` if the answer is not one of the service. */
  readonly code: string;
  /** The invalid fields of a `ValidationError`. */
  readonly fields: Fault[];
  /** Details, such as `available_seats` of `sold_out`. */
  readonly data: unknown;
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined;
  /** Seconds after which the request can be sent again. */
  readonly retryAfter: number | undefined;

  constructor(status: number, headers: Headers, body: Partial<ErrorBody>) {
    super(body.message ?? "The answer is not one of the service.");
    this.status = status;
    this.code = body.error ?? `http_${status}`;
    this.fields = body.errors ?? [];
    this.data = body.data;
    this.requestId = body.request_id ?? headers.get("x-request-id") ?? undefined;
    const seconds = headers.get("retry-after") ?? "";
    this.retryAfter = /^\d+$/.test(seconds) ? Number(seconds) : undefined;
  }
}

/** 422: fields are invalid. `fields` lists all of them. */
export class ValidationError extends ApiError {}

/** 401: not signed in, or wrong credentials. */
export class UnauthenticatedError extends ApiError {}

/** 403: the account may not do this. */
export class ForbiddenError extends ApiError {}

/** 404: it does not exist, or the caller may not see it. */
export class NotFoundError extends ApiError {}

/** 409: the current state does not allow it. `code` says why. */
export class ConflictError extends ApiError {}

/** 429: too many requests. `retryAfter` says how long to wait. */
export class RateLimitedError extends ApiError {}

/** 503: the service is busy or being restarted. */
export class UnavailableError extends ApiError {}

/** 503 `outcome_unknown`: the change may have been made. Check before sending it again. */
export class OutcomeUnknownError extends UnavailableError {}

const byStatus: Record<number, typeof ApiError> = {
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: ValidationError,
  429: RateLimitedError,
  503: UnavailableError,
};

/** The error of an answer. */
export function apiError(status: number, headers: Headers, content: string): ApiError {
  const body = errorBody(content);
  const kind = body.error === "outcome_unknown" ? OutcomeUnknownError : byStatus[status];
  return new (kind ?? ApiError)(status, headers, body);
}

/** Empty if a proxy has answered in its own words. */
function errorBody(content: string): Partial<ErrorBody> {
  try {
    const body = JSON.parse(content);
    return typeof body?.error === "string" ? body : {};
  } catch {
    return {};
  }
}
