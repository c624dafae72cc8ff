// The running service, and a proxy in front of it that fails on purpose.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { Dermaga, type Booking, type BookingForm, type Settings } from "dermaga";

assert(process.env.DERMAGA_URL, "DERMAGA_URL is not set");
export const url = process.env.DERMAGA_URL;
export const admin = "admin@dermaga.example";
export const partner = "made@bahari.example";
export const password = "dermaga demo 2026";
export const date = new Date(Date.now() + 3 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);

export async function signedIn(email = admin, settings: Partial<Settings> = {}): Promise<Dermaga> {
  const client = new Dermaga({ baseUrl: url, ...settings });
  await client.signIn({ email, password });
  return client;
}

/** A booking of a guest of its own, on the emptiest sailing of the partner. */
export async function bookingForm(client: Dermaga): Promise<BookingForm> {
  const search = { from: "Sanur", to: "Nusa Penida", date, qty: 1 };
  const { items } = await client.routes.searchSailings(search);
  const ofPartner = items.filter(({ mitra }) => mitra.name === "Bahari Express");
  const [sailing] = ofPartner.sort((a, b) => b.available_seats - a.available_seats);
  assert(sailing);
  const email = `${crypto.randomUUID()}@example.com`;
  return {
    type: "speedboat",
    item_id: sailing.item_id,
    route_time_id: sailing.route_time_id,
    qty: 1,
    contact: { name: "Sari Dewi", email, phone: "081234567890" },
    passengers: [{ name: "Sari Dewi" }],
  };
}

/** Pays on the page of the payment simulator. */
export async function pay({ payment }: Booking): Promise<void> {
  assert(payment?.redirect_url);
  const body = new URLSearchParams({ action: "pay" });
  assert((await fetch(payment.redirect_url, { method: "POST", body })).ok);
}

/** An answer that the proxy gives itself. */
export interface Reply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** An error of the service. */
export function refusal(status: number, error: string, headers: Reply["headers"] = {}): Reply {
  const body = { status: "error", code: status, message: error, error, request_id: "r-1" };
  return { status, body, headers };
}

type Fault = "lose request" | "lose answer" | "cut stream" | "hang" | Reply;

/** Forwards requests to the service. Each entry of `faults` is what happens to one request. */
export class Proxy {
  faults: Fault[] = [];
  readonly seen: IncomingMessage[] = [];
  readonly #server = createServer((incoming, answer) => this.#handle(incoming, answer));

  static async start(): Promise<Proxy> {
    const proxy = new Proxy();
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    after(() => {
      proxy.#server.closeAllConnections();
      proxy.#server.close();
    });
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #handle(incoming: IncomingMessage, answer: ServerResponse): void {
    this.seen.push(incoming);
    const fault = this.faults.shift();
    if (fault === "lose request") incoming.socket.destroy();
    else if (fault === "hang") incoming.resume();
    else if (typeof fault === "object") {
      const { status, body, headers } = fault;
      answer.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
    } else this.#forward(incoming, answer, fault);
  }

  #forward(incoming: IncomingMessage, answer: ServerResponse, fault: Fault | undefined): void {
    const { method = "GET", headers } = incoming;
    const outgoing = request(url + incoming.url, { method, headers }, (response) => {
      if (fault === "lose answer") {
        response.resume().on("end", () => incoming.socket.destroy());
        return;
      }
      answer.writeHead(response.statusCode ?? 0, response.headers);
      response.on("data", (chunk: Buffer) => {
        answer.write(chunk);
        if (fault === "cut stream" && chunk.includes("data:")) {
          response.destroy();
          incoming.socket.end();
        }
      });
      response.on("end", () => answer.end());
    });
    outgoing.on("error", () => incoming.socket.destroy());
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  }
}
