// Calls of the running service.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it, mock } from "node:test";
import {
  ConflictError,
  Dermaga,
  ForbiddenError,
  NotFoundError,
  UnauthenticatedError,
  ValidationError,
  type Session,
} from "dermaga";
import { book } from "../examples/booking.js";
import { admin, bookingForm, date, partner, password, pay, signedIn, url } from "./support.js";

const nobody = "00000000-0000-7000-8000-000000000000";
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

async function starts(file: File, bytes: string): Promise<boolean> {
  return Buffer.from(await file.arrayBuffer()).toString("latin1").startsWith(bytes);
}

describe("Signing in", () => {
  it("identifies the account until it signs out", async () => {
    const sessions: (Session | undefined)[] = [];
    const client = new Dermaga({ baseUrl: url, onSession: (session) => sessions.push(session) });
    const { user } = await client.signIn({ email: admin, password, role: "admin" });
    assert.equal(user.email, admin);
    assert.equal((await client.accounts.getProfile()).email, admin);
    await client.signOut();
    assert.equal(client.session, undefined);
    assert.equal(sessions.length, 2);
    await assert.rejects(client.accounts.getProfile(), UnauthenticatedError);
  });

  it("is refused with a wrong password", async () => {
    const client = new Dermaga({ baseUrl: url });
    await assert.rejects(client.signIn({ email: admin, password: "not the password" }), {
      name: "UnauthenticatedError",
      code: "invalid_credentials",
    });
    assert.equal(client.session, undefined);
  });
});

describe("Lists", async () => {
  const client = await signedIn();

  it("give all items of all pages", async () => {
    // The oldest first: bookings that other tests make come last.
    const list = client.bookings.list({ page_size: 25, sort_by: "created_at", sort_dir: "asc" });
    const first = await list;
    assert.equal(first.items.length, 25);
    assert(first.pagination.total_pages > 3);
    const ids = new Set<string>();
    let count = 0;
    for await (const booking of list.all()) {
      ids.add(booking.id);
      count++;
    }
    assert.equal(ids.size, count);
    assert(count >= first.pagination.total_items);
  });

  it("start at the page that is asked for", async () => {
    const ids = async (page: number) => {
      const found: string[] = [];
      const list = client.harbours.list({ page_size: 10, page });
      for await (const { id } of list.all()) found.push(id);
      return found;
    };
    assert.deepEqual(await ids(2), (await ids(1)).slice(10));
  });

  it("end at an empty page", async () => {
    for await (const page of client.bookings.list({ page: 1000 }).pages()) {
      assert.deepEqual(page.items, []);
    }
  });

  it("are filtered", async () => {
    const { items } = await client.bookings.list({ refund_due: true, channel: "web" });
    assert(items.length > 0);
    assert(items.every(({ channel, owed }) => channel === "web" && owed > 0));
  });

  it("have their items inside of data", async () => {
    const list = client.staff.list({ page_size: 1 });
    const { items, body } = await list;
    assert.equal(items.length, 1);
    let count = 0;
    for await (const _ of list.all()) count++;
    assert(count > 1);
    assert.equal(count, body.data.summary.total);
  });

  it("have their page number in the body", async () => {
    const search = { from: "Sanur", to: "Nusa Penida", date, qty: 1 };
    const { items } = await client.routes.searchSailings(search);
    const found = [];
    let pages = 0;
    for await (const page of client.routes.searchSailings({ ...search, page_size: 2 }).pages()) {
      found.push(...page.items);
      pages++;
    }
    assert(pages > 1);
    assert.deepEqual(found, items);
  });
});

describe("Bookings", async () => {
  const guest = new Dermaga({ baseUrl: url });
  const account = await signedIn();
  const bookingsOf = async (search: string) => (await account.bookings.list({ search })).items;

  it("are made once per key", async () => {
    const form = await bookingForm(guest);
    const idempotencyKey = crypto.randomUUID();
    const first = await guest.bookings.create(form, { idempotencyKey });
    const second = await guest.bookings.create(form, { idempotencyKey });
    assert.equal(first.id, second.id);
    assert.equal((await bookingsOf(form.contact.email)).length, 1);
    const other = guest.bookings.create({ ...form, note: "Another request" }, { idempotencyKey });
    await assert.rejects(other, { name: "ConflictError", code: "idempotency_conflict" });
    await assert.rejects(other, ConflictError);
  });

  it("have a new key for each call", async () => {
    const form = await bookingForm(guest);
    await guest.bookings.create(form);
    await guest.bookings.create(form);
    assert.equal((await bookingsOf(form.contact.email)).length, 2);
  });

  it("are paid, have a ticket and can be cancelled", async () => {
    const form = await bookingForm(guest);
    const { id, code, status, ...booking } = await guest.bookings.create(form);
    assert.equal(status, "pending_payment");
    await pay({ id, code, status, ...booking });
    const credentials = { code, email: form.contact.email };
    assert.equal((await guest.bookings.get(id, credentials)).status, "paid");

    const ticket = await guest.tickets.get(id, credentials);
    assert.equal(ticket.type, "application/pdf");
    assert(await starts(ticket, "%PDF"));

    const cancelled = await guest.bookings.cancel(id, { ...credentials, reason: "Fog" });
    assert.equal(cancelled.status, "refund_pending");
  });

  it("are made as the README shows", async () => {
    const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8");
    const example = await read("../../examples/booking.ts");
    assert((await read("../../README.md")).includes(example));
    const log = mock.method(console, "log", () => {});
    assert.equal(await book(guest, date), "cancelled");
    assert.match(log.mock.calls.map((call) => call.arguments.join()).join("\n"), /pending_payment/);
    log.mock.restore();
  });
});

describe("Errors", () => {
  it("list the invalid fields", async () => {
    const client = new Dermaga({ baseUrl: url });
    const form = await bookingForm(client);
    form.contact.email = "nobody";
    form.passengers = [{ name: "" }];
    await assert.rejects(client.bookings.create(form), (error) => {
      assert(error instanceof ValidationError);
      assert.equal(error.status, 422);
      assert.equal(error.code, "validation_failed");
      const fields = error.fields.map(({ field }) => field).sort();
      assert.deepEqual(fields, ["contact.email", "passengers[0].name"]);
      assert(error.requestId);
      return true;
    });
  });

  it("have messages in Indonesian", async () => {
    const client = await signedIn(admin, { language: "id" });
    await assert.rejects(client.bookings.get(nobody), { message: "Tidak ditemukan." });
  });

  it("say that something does not exist", async () => {
    const client = await signedIn();
    await assert.rejects(client.bookings.get(nobody), { status: 404, code: "not_found" });
    await assert.rejects(client.bookings.get(nobody), NotFoundError);
  });

  it("say that something is not allowed", async () => {
    const client = await signedIn(partner);
    await assert.rejects(client.accounts.listUsers(), ForbiddenError);
  });
});

describe("Files", async () => {
  const client = await signedIn();

  it("are uploaded and downloaded", async () => {
    const image = new File([pixel], "Kapal cepat é.png", { type: "image/png" });
    const record = await client.files.upload({ file: image, purpose: "photo" });
    assert.equal(record.filename, image.name);
    assert.equal(record.status, "ready");
    const found = await client.files.download(record.id);
    assert.equal(found.name, image.name);
    assert.equal(found.type, "image/png");
    assert.equal(found.size, record.size);
    assert(await starts(found, "\x89PNG"));
  });

  it("are uploaded to a signed address", async () => {
    const image = new Blob([pixel], { type: "image/png" });
    const signed = await client.files.presignUrl({
      filename: "boat.png",
      content_type: "image/png",
      size: image.size,
      purpose: "photo",
    });
    const address = new URL(signed.upload_url).searchParams;
    const query = {
      expires: address.get("expires") ?? "",
      signature: address.get("signature") ?? "",
    };
    const guest = new Dermaga({ baseUrl: url });
    const record = await guest.files.receive(signed.file_id, image, query);
    assert.equal(record.status, "ready");
  });

  it("are CSV", async () => {
    const file = await client.bookings.listFile("csv", { status: "completed" });
    assert.equal(file.name, "bookings.csv");
    assert.equal(file.type, "text/csv");
    const { items, pagination } = await client.bookings.list({ status: "completed" });
    const text = await file.text();
    assert.equal(text.trimEnd().split(/\r?\n/).length, pagination.total_items + 1);
    assert(text.includes(items[0]?.code ?? "no booking"));
  });

  it("are XLSX and PDF", async () => {
    assert(await starts(await client.finance.getTrialBalanceFile("xlsx"), "PK"));
    const { items } = await client.boarding.listRouteTimes({ page_size: 1 });
    assert(await starts(await client.boarding.getManifestFile(items[0]?.id ?? "", "pdf"), "%PDF"));
  });
});
