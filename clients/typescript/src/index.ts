export { Dermaga, type Credentials } from "./client.js";
export {
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
} from "./errors.js";
export type * from "./generated/types.js";
export { type ListBody, type Listing, type Page } from "./page.js";
export type { KeyedOptions, Options, Session, Settings } from "./transport.js";
