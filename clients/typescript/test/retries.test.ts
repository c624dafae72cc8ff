// Failures between the client and the service.

import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import {
  Dermaga,
  NetworkError,
  NotFoundError,
  OutcomeUnknownError,
  RateLimitedError,
  RequestTimeoutError,
  UnauthenticatedError,
  UnavailableError,
  type Booking,
  type BookingForm,
  type NewHarbour,
  type Session,
  type Settings,
} from "dermaga";
import { admin, bookingForm, partner, password, Proxy, refusal, signedIn, url } from "./support.js";

const proxy = await Proxy.start();
beforeEach(() => {
  proxy.faults = [];
  proxy.seen.length = 0;
});

function behindProxy(settings: Partial<Settings> = {}): Dermaga {
  return new Dermaga({ baseUrl: proxy.url, backoff: 10, ...settings });
}

async function elapsed(work: PromiseLike<unknown>): Promise<number> {
  const started = performance.now();
  await work;
  return performance.now() - started;
}

describe("Reads", () => {
  it("are repeated", async () => {
    proxy.faults = ["lose request", { status: 502, body: "<h1>Bad gateway</h1>" }, "lose answer"];
    assert((await behindProxy().routes.listLocations()).length > 0);
    assert.equal(proxy.seen.length, 4);
  });

  it("by POST are repeated", async () => {
    proxy.faults = ["lose answer"];
    assert(await bookingForm(behindProxy()));
    assert.equal(proxy.seen.length, 2);
  });

  it("are given up", async () => {
    proxy.faults = Array(5).fill("lose request");
    await assert.rejects(behindProxy({ retries: 2 }).routes.listLocations(), NetworkError);
    assert.equal(proxy.seen.length, 3);
  });

  it("are not repeated after an error", async () => {
    proxy.faults = [refusal(500, "internal")];
    const error = { name: "ApiError", status: 500, code: "internal", requestId: "r-1" };
    await assert.rejects(behindProxy().routes.listLocations(), error);
    assert.equal(proxy.seen.length, 1);
  });

  it("fail if something else answers", async () => {
    proxy.faults = [
      { status: 403, body: "<h1>Forbidden</h1>" },
      { status: 200, body: "<h1>Welcome</h1>" },
    ];
    const client = behindProxy();
    await assert.rejects(client.routes.listLocations(), { status: 403, code: "http_403" });
    await assert.rejects(client.routes.listLocations(), { status: 200, code: "http_200" });
  });

  it("time out", async () => {
    proxy.faults = ["hang", "hang"];
    const late = behindProxy({ retries: 0 }).routes.listLocations({ timeout: 200 });
    assert((await elapsed(assert.rejects(late, RequestTimeoutError))) < 2000);
    assert((await behindProxy({ timeout: 200 }).routes.listLocations()).length > 0);
    assert.equal(proxy.seen.length, 3);
  });

  it("end when the caller gives up", async () => {
    proxy.faults = ["hang", "lose request"];
    const waits = behindProxy({ retries: 0 });
    const waited = waits.routes.listLocations({ signal: AbortSignal.timeout(100) });
    await assert.rejects(waited, { name: "TimeoutError" });
    const pauses = behindProxy({ backoff: 5000 });
    const paused = pauses.routes.listLocations({ signal: AbortSignal.timeout(100) });
    await assert.rejects(paused, { name: "TimeoutError" });
    assert.equal(proxy.seen.length, 2);
  });
});

describe("Waiting", () => {
  it("follows Retry-After", async () => {
    proxy.faults = [refusal(429, "too_many_requests", { "Retry-After": "1" })];
    assert((await elapsed(behindProxy().routes.listLocations())) >= 1000);
  });

  it("is given up if it takes too long", async () => {
    proxy.faults = [refusal(429, "too_many_requests", { "Retry-After": "900" })];
    await assert.rejects(behindProxy().routes.listLocations(), (error) => {
      assert(error instanceof RateLimitedError);
      assert.equal(error.retryAfter, 900);
      return true;
    });
    assert.equal(proxy.seen.length, 1);
  });

  it("grows", async () => {
    proxy.faults = Array(3).fill("lose request");
    // Between one half and all of 200 + 400 + 800 milliseconds.
    assert((await elapsed(behindProxy({ backoff: 200 }).routes.listLocations())) >= 700);
  });
});

describe("Changes with a key", () => {
  let form: BookingForm;
  beforeEach(async () => {
    form = await bookingForm(new Dermaga({ baseUrl: url }));
  });

  const keys = () => new Set(proxy.seen.map(({ headers }) => headers["idempotency-key"]));
  const assertOneBooking = async ({ id }: Booking) => {
    const { items } = await (await signedIn()).bookings.list({ search: form.contact.email });
    assert.deepEqual(items.map((found) => found.id), [id]);
  };

  it("are made once if an answer is lost", async () => {
    proxy.faults = ["lose answer"];
    const booking = await behindProxy().bookings.create(form);
    assert.equal(proxy.seen.length, 2);
    assert.equal(keys().size, 1);
    await assertOneBooking(booking);
  });

  it("wait for an attempt that is still running", async () => {
    proxy.faults = ["lose request", refusal(409, "idempotency_in_progress")];
    const booking = await behindProxy().bookings.create(form);
    assert.equal(proxy.seen.length, 3);
    assert.equal(keys().size, 1);
    await assertOneBooking(booking);
  });

  it("are repeated after an unknown outcome", async () => {
    proxy.faults = [refusal(503, "outcome_unknown")];
    const idempotencyKey = "mine";
    await assertOneBooking(await behindProxy().bookings.create(form, { idempotencyKey }));
    assert.deepEqual(keys(), new Set([idempotencyKey]));
  });
});

describe("Changes without a key", async () => {
  const client = behindProxy({ session: (await signedIn()).session });
  const harbour = (): NewHarbour => ({
    name: `Pelabuhan ${crypto.randomUUID()}`,
    timezone: "Asia/Makassar",
  });

  it("fail if the answer is lost", async () => {
    proxy.faults = ["lose answer"];
    const form = harbour();
    await assert.rejects(client.harbours.create(form), NetworkError);
    assert.equal(proxy.seen.length, 1);
    // It was carried out.
    assert.equal((await client.harbours.list({ search: form.name })).items.length, 1);
  });

  it("fail with an unknown outcome", async () => {
    proxy.faults = [refusal(503, "outcome_unknown")];
    await assert.rejects(client.harbours.create(harbour()), OutcomeUnknownError);
    assert.equal(proxy.seen.length, 1);
  });

  it("fail with the 503 of a proxy", async () => {
    proxy.faults = [{ status: 503, body: "<h1>Maintenance</h1>" }];
    await assert.rejects(client.harbours.create(harbour()), UnavailableError);
    assert.equal(proxy.seen.length, 1);
  });

  it("are repeated after a refusal", async () => {
    proxy.faults = [
      refusal(429, "too_many_requests", { "Retry-After": "0" }),
      refusal(503, "unavailable", { "Retry-After": "0" }),
    ];
    const form = harbour();
    assert.equal((await client.harbours.create(form)).name, form.name);
    assert.equal(proxy.seen.length, 3);
    assert.equal(proxy.seen[0]?.headers["idempotency-key"], undefined);
  });
});

describe("Pages", () => {
  it("go on where the service does not count", async () => {
    const page = (number: number, data: number[]) => ({
      status: 200,
      body: {
        data,
        pagination: {
          page: number,
          page_size: 2,
          total_items: 2,
          total_pages: 1,
          total_is_minimum: true,
        },
      },
    });
    proxy.faults = [page(1, [1, 2]), page(2, [3, 4]), page(3, [])];
    const items: unknown[] = [];
    for await (const item of behindProxy().harbours.list({ search: "a" }).all()) items.push(item);
    assert.deepEqual(items, [1, 2, 3, 4]);
    assert.equal(proxy.seen[2]?.url, "/v1/harbours?search=a&page=3");
  });
});

describe("An id", () => {
  it("stays one segment of the path", async () => {
    const client = behindProxy();
    const query = { code: "A&B", email: "a+b@example.com" };
    await assert.rejects(client.bookings.get("../users?é", query), NotFoundError);
    const expected = "/v1/booking/..%2Fusers%3F%C3%A9?code=A%26B&email=a%2Bb%40example.com";
    assert.equal(proxy.seen[0]?.url, expected);
    for (const id of ["", ".."]) assert.throws(() => client.bookings.get(id), TypeError);
  });
});

describe("A session", () => {
  const remembered = async (): Promise<Session> => {
    const client = new Dermaga({ baseUrl: url });
    await client.signIn({ email: admin, password, remember: true });
    assert(client.session?.rememberToken);
    return client.session;
  };

  it("is renewed when it has ended", async () => {
    const session = await remembered();
    const changes: (Session | undefined)[] = [];
    const client = behindProxy({
      session: { ...session, accessToken: "ended" },
      onSession: (changed) => changes.push(changed),
    });
    assert.equal((await client.accounts.getProfile()).email, admin);
    const targets = proxy.seen.map((seen) => seen.url);
    assert.deepEqual(targets, ["/user/me", "/auth/remember-me", "/user/me"]);
    assert.deepEqual(changes, [client.session]);
    assert(client.session?.rememberToken);
    assert.notEqual(client.session.rememberToken, session.rememberToken);
    await client.signOut();
  });

  it("is renewed once for all calls", async () => {
    const client = behindProxy({ session: { ...(await remembered()), accessToken: "ended" } });
    const profiles = await Promise.all([1, 2, 3, 4].map(() => client.accounts.getProfile()));
    assert.deepEqual(profiles.map(({ email }) => email), Array(4).fill(admin));
    assert.equal(proxy.seen.filter((seen) => seen.url === "/auth/remember-me").length, 1);
  });

  it("ends if the device is forgotten", async () => {
    const session = { accessToken: "ended", email: admin, rememberToken: "forgotten" };
    const client = behindProxy({ session });
    await assert.rejects(client.accounts.getProfile(), UnauthenticatedError);
    assert.equal(client.session, undefined);
  });

  it("outlives a renewal that fails", async () => {
    const session = { accessToken: "ended", email: admin, rememberToken: "remembered" };
    const client = behindProxy({ session });
    proxy.faults = [refusal(401, "unauthenticated"), refusal(503, "unavailable")];
    await assert.rejects(client.accounts.getProfile(), UnavailableError);
    assert.deepEqual(client.session, session);
  });
});

describe("A stream", () => {
  it("goes on when it is lost", { timeout: 60_000 }, async () => {
    const client = behindProxy({ session: (await signedIn(partner)).session });
    const guest = new Dermaga({ baseUrl: url });
    // It sends the first notification, whatever it is about, and is cut.
    proxy.faults = ["cut stream"];
    const stop = new AbortController();
    const notifications = client.notifications.stream({ signal: stop.signal });
    const ids: string[] = [];
    const arrives = async (expected: Promise<Booking>) => {
      // The stream is opened first.
      let next = notifications.next();
      const { id } = await expected;
      while (true) {
        const { value } = await next;
        ids.push(value.id);
        if (value.data.booking_id === id) return;
        next = notifications.next();
      }
    };
    for (let count = 0; count < 2; count++) {
      await arrives(bookingForm(guest).then((form) => guest.bookings.create(form)));
    }
    assert.equal(new Set(ids).size, ids.length);
    assert(proxy.seen.length >= 2);
    assert.equal(proxy.seen[0]?.headers["last-event-id"], undefined);
    assert(proxy.seen[1]?.headers["last-event-id"]);
    stop.abort();
    await assert.rejects(notifications.next(), { name: "AbortError" });
  });
});
