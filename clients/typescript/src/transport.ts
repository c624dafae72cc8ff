// Requests: session, retries, and what becomes of an answer.

import {
  apiError,
  ApiError,
  ConflictError,
  ForbiddenError,
  NetworkError,
  RateLimitedError,
  RequestTimeoutError,
  UnauthenticatedError,
  UnavailableError,
} from "./errors.js";
import { readEvents } from "./events.js";
import type { SignedIn } from "./generated/types.js";
import { Listing, type ListBody, type Page } from "./page.js";

/** What identifies the caller. It can be stored and given to another client. */
export interface Session {
  accessToken: string;
  /** With `rememberToken`: the account's address. */
  email?: string | undefined;
  /** Renews the session when it has ended. It changes each time. */
  rememberToken?: string | undefined;
}

export interface Settings {
  /** The address of the service, such as `https://api.example.com`. */
  baseUrl: string;
  /** A session from an earlier sign-in. Without one, calls are those of a guest. */
  session?: Session | undefined;
  /** Called when the session changes, to store it. */
  onSession?: (session: Session | undefined) => void;
  /** Of messages. Default: English. */
  language?: "en" | "id";
  /**
   * Milliseconds for one request and its whole answer. The service ends a request after 60 seconds
   * and answers with an error; the default of 65 seconds lets that answer arrive.
   */
  timeout?: number;
  /** How often a request is sent again at most. Default: 3. */
  retries?: number;
  /** Milliseconds before the first retry; each further one waits twice as long. Default: 500. */
  backoff?: number;
  /** Milliseconds; a request that would have to wait longer is not sent again. Default: 30,000. */
  maxWait?: number;
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/** Of a single call. */
export interface Options {
  /** Milliseconds for each attempt, instead of the client's. */
  timeout?: number;
  /** Ends the call. */
  signal?: AbortSignal;
}

/** Of a call that accepts an `Idempotency-Key`. */
export interface KeyedOptions extends Options {
  /** Default: a new one for each call. */
  idempotencyKey?: string;
}

/** One request, as an operation describes it. */
export interface Call {
  method: string;
  path: string;
  /** `read` changes nothing, `keyed` accepts an `Idempotency-Key`, `change` does not. */
  repeat: "read" | "keyed" | "change";
  query?: object;
  json?: object | undefined;
  form?: object;
  content?: Blob;
  headers?: Record<string, string>;
}

/** Where a list has its page number and its items. */
export interface Paging {
  pageIn: "query" | "json";
  /** The property of `data` that has the items, if it is not `data` itself. */
  items?: string;
}

interface Envelope {
  data?: unknown;
}

/** An answer that has arrived completely. */
interface Answer {
  status: number;
  headers: Headers;
  content: Blob;
}

export class Transport {
  readonly #settings: Required<Omit<Settings, "session" | "onSession">>;
  readonly #onSession: Settings["onSession"];
  #session: Session | undefined;
  #renewal: Promise<void> | undefined;

  constructor({ session, onSession, ...settings }: Settings) {
    this.#settings = {
      language: "en",
      timeout: 65_000,
      retries: 3,
      backoff: 500,
      maxWait: 30_000,
      fetch: globalThis.fetch.bind(globalThis),
      ...settings,
      baseUrl: settings.baseUrl.replace(/\/+$/, ""),
    };
    this.#session = session;
    this.#onSession = onSession;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  set session(session: Session | undefined) {
    this.#session = session;
    this.#onSession?.(session);
  }

  /** The data of an answer; undefined if it has none. */
  async data<Data>(call: Call, options?: KeyedOptions): Promise<Data> {
    const envelope = await this.#envelope<Envelope>(call, options);
    return envelope.data as Data;
  }

  list<Item, Body = ListBody<Item>>(
    call: Call,
    { pageIn, items }: Paging,
    options?: Options,
  ): Listing<Item, Body> {
    return new Listing(async (page): Promise<Page<Item, Body>> => {
      const turned = page ? { ...call, [pageIn]: { ...call[pageIn], page } } : call;
      const body = await this.#envelope<ListBody<Item>>(turned, options);
      const data = body.data as Item[] | Record<string, Item[]>;
      const found = Array.isArray(data) ? data : (data[items ?? ""] ?? []);
      return { items: found, pagination: body.pagination, body: body as Body };
    });
  }

  async file(call: Call, options?: Options): Promise<File> {
    const { headers, content } = await this.#repeated(call, options, this.#send);
    const type = (headers.get("content-type") ?? "").split(";")[0] ?? "";
    return new File([content], fileName(headers), { type });
  }

  /** The data of server-sent events. A lost stream is opened again where it was lost. */
  async *events<Data>(call: Call, options: Options = {}): AsyncGenerator<Data> {
    let lastId = "";
    let wait = this.#settings.backoff;
    while (true) {
      const headers = lastId ? { "Last-Event-ID": lastId } : {};
      const chunks = await this.#repeated({ ...call, headers }, options, this.#open);
      try {
        for await (const event of readEvents(chunks)) {
          lastId = event.id || lastId;
          wait = event.retry ?? wait;
          if (event.data) yield JSON.parse(event.data);
        }
      } catch (error) {
        if (!(error instanceof NetworkError)) throw error;
      }
      await pause(wait, options.signal);
    }
  }

  async #envelope<Body>(call: Call, options?: KeyedOptions): Promise<Body> {
    const { status, headers, content } = await this.#repeated(call, options, this.#send);
    const text = await content.text();
    try {
      return JSON.parse(text);
    } catch {
      throw apiError(status, headers, text);
    }
  }

  /** Sends a request, again if it may be, until it succeeds. */
  async #repeated<Result>(
    call: Call,
    options: KeyedOptions = {},
    send: (call: Call, headers: Headers, options: Options) => Promise<Result>,
  ): Promise<Result> {
    const headers = new Headers(call.headers);
    headers.set("Accept-Language", this.#settings.language);
    if (call.repeat === "keyed") {
      headers.set("Idempotency-Key", options.idempotencyKey ?? crypto.randomUUID());
    }
    let renewed = false;
    for (let attempt = 0; ; ) {
      const session = this.#session;
      if (session) headers.set("Authorization", `Bearer ${session.accessToken}`);
      try {
        return await send.call(this, call, headers, options);
      } catch (error) {
        if (!renewed && session?.rememberToken && hasEnded(error)) {
          await this.#renew(session, error);
          renewed = true;
          continue;
        }
        if (attempt >= this.#settings.retries || !mayRepeat(call, error)) throw error;
        const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
        const wait = asked + (0.5 + Math.random() / 2) * this.#settings.backoff * 2 ** attempt;
        if (wait > this.#settings.maxWait) throw error;
        attempt++;
        await pause(wait, options.signal);
      }
    }
  }

  async #send(call: Call, headers: Headers, options: Options): Promise<Answer> {
    const limit = AbortSignal.timeout(options.timeout ?? this.#settings.timeout);
    const received = async (): Promise<Answer> => {
      const response = await this.#fetch(call, headers, limit, options.signal);
      return { status: response.status, headers: response.headers, content: await response.blob() };
    };
    const answer = await received().catch((cause) => {
      throw failure(cause, limit, options.signal);
    });
    if (answer.status === 200) return answer;
    throw apiError(answer.status, answer.headers, await answer.content.text());
  }

  /** The chunks of an answer as they arrive, each within the time-out. */
  async #open(call: Call, headers: Headers, options: Options): Promise<AsyncGenerator<string>> {
    const limit = new AbortController();
    const wait = () => setTimeout(() => limit.abort(), options.timeout ?? this.#settings.timeout);
    let timer = wait();
    const failed = (cause: unknown): never => {
      clearTimeout(timer);
      throw failure(cause, limit.signal, options.signal);
    };
    const response = await this.#fetch(call, headers, limit.signal, options.signal).catch(failed);
    const { status, body } = response;
    if (status !== 200 || !body) {
      const content = await response.text().catch(failed);
      clearTimeout(timer);
      throw apiError(status, response.headers, content);
    }
    return (async function* () {
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      try {
        while (true) {
          const { value, done } = await reader.read().catch(failed);
          if (done) return;
          clearTimeout(timer);
          yield value;
          timer = wait();
        }
      } finally {
        clearTimeout(timer);
        // Closes the connection, also of a caller who listens no longer.
        limit.abort();
      }
    })();
  }

  #fetch(
    call: Call,
    headers: Headers,
    limit: AbortSignal,
    caller: AbortSignal | undefined,
  ): Promise<Response> {
    const sent = new Headers(headers);
    let body: BodyInit | null = null;
    if (call.form) body = formData(call.form);
    else if (call.content) {
      body = call.content;
      sent.set("Content-Type", call.content.type);
    } else if (call.json) {
      body = JSON.stringify(call.json);
      sent.set("Content-Type", "application/json");
    }
    return this.#settings.fetch(this.#settings.baseUrl + call.path + queryString(call.query), {
      method: call.method,
      headers: sent,
      body,
      signal: caller ? AbortSignal.any([limit, caller]) : limit,
    });
  }

  /** Exchanges the remember token for a new session, once for all calls that wait for it. */
  async #renew(ended: Session, error: unknown): Promise<void> {
    if (this.#session === ended) {
      this.#renewal ??= this.#resume(ended, error).finally(() => (this.#renewal = undefined));
    }
    await this.#renewal;
  }

  async #resume(ended: Session, error: unknown): Promise<void> {
    const headers = new Headers({ "X-Remember-Token": ended.rememberToken ?? "" });
    const json = { email: ended.email };
    const call: Call = { method: "POST", path: "/auth/remember-me", repeat: "change", json };
    try {
      const { content } = await this.#send(call, headers, {});
      const { data }: { data: SignedIn } = JSON.parse(await content.text());
      const rememberToken = data.remember_token ?? undefined;
      this.session = { accessToken: data.access_token, email: ended.email, rememberToken };
    } catch (refusal) {
      const final = refusal instanceof UnauthenticatedError || refusal instanceof ForbiddenError;
      if (!final) throw refusal;
      // The device is no longer remembered, or the account is suspended.
      this.session = undefined;
      throw error;
    }
  }
}

/** A value in a path. An empty one, or dots, would make the path of another operation. */
export function segment(value: string): string {
  if (["", ".", ".."].includes(value)) throw new TypeError(`not an id: "${value}"`);
  return encodeURIComponent(value);
}

function queryString(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given).toString();
  return text && `?${text}`;
}

function formData(form: object): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) data.append(name, value);
  return data;
}

function fileName(headers: Headers): string {
  const disposition = headers.get("content-disposition") ?? "";
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  if (encoded) return decodeURIComponent(encoded);
  return /filename="([^"]*)"/i.exec(disposition)?.[1] ?? "file";
}

/** Whether the error says that the session has ended. Wrong passwords are another error. */
function hasEnded(error: unknown): boolean {
  return error instanceof UnauthenticatedError && error.code === "unauthenticated";
}

/** Whether a request can be sent again without the risk of doing something twice. */
function mayRepeat(call: Call, error: unknown): boolean {
  // The service has refused the request, and done nothing.
  if (error instanceof RateLimitedError) return true;
  if (error instanceof UnavailableError && error.code === "unavailable") return true;
  if (call.repeat === "change") return false;
  // An earlier attempt is still running.
  if (error instanceof ConflictError) return error.code === "idempotency_in_progress";
  if (error instanceof ApiError) return [502, 503, 504].includes(error.status);
  return error instanceof NetworkError;
}

/** The error of a request without an answer. */
function failure(cause: unknown, limit: AbortSignal, caller?: AbortSignal): unknown {
  if (caller?.aborted) return caller.reason;
  if (limit.aborted) {
    return new RequestTimeoutError("The service did not answer in time.", { cause });
  }
  return new NetworkError("No answer of the service.", { cause });
}

function pause(milliseconds: number, caller?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(caller?.reason);
    };
    const timer = setTimeout(() => {
      caller?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (caller?.aborted) stop();
    caller?.addEventListener("abort", stop, { once: true });
  });
}
