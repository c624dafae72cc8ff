// What the phone keeps, and how scans are sent. Shared by the page and its worker.
"use strict";
const DAY = 24 * 60 * 60 * 1000;
const BATCH = 500;

// One store of key and value. `clock`, `keys`, `owner`, `list`; `s:` lists of passengers by sailing; `q:`
// scans that are not sent; `l:` outcomes that somebody has to look at.
const database = new Promise((done, fail) => {
  const opening = indexedDB.open("pier", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("kept");
  opening.onsuccess = () => { opening.result.onversionchange = () => opening.result.close(); done(opening.result); };
  opening.onerror = () => fail(opening.error);
});
const within = async (mode, act) => {
  const work = (await database).transaction("kept", mode);
  const asked = act(work.objectStore("kept"));
  await new Promise((done, fail) => { work.oncomplete = done; work.onabort = () => fail(work.error); });
  return asked;
};

// A copy in memory, so that a verdict waits for nothing.
let kept = new Map();
const others = new BroadcastChannel("pier");
const load = async () => {
  const [keys, values] = await within("readonly", (store) => [store.getAllKeys(), store.getAll()]);
  kept = new Map(keys.result.map((key, index) => [key, values.result[index]]));
  await forgetOld();
};
const save = async (key, value) => { kept.set(key, value); await within("readwrite", (store) => store.put(value, key)); others.postMessage(0); };
const drop = async (key) => { kept.delete(key); await within("readwrite", (store) => store.delete(key)); others.postMessage(0); };
const wipe = async () => { kept.clear(); await within("readwrite", (store) => store.clear()); };
const all = (prefix) => [...kept].filter(([key]) => key.startsWith(prefix));

// The time of the service: the clock of a phone may be wrong.
const now = () => Date.now() + (kept.get("clock") ?? 0);
// Nothing outlives the day after arrival.
// Scans wait until the service has told the time: a phone may set its clock while there is no network.
let told = false;
const forgetOld = async () => { for (const [key, value] of kept) if (value.until < now() && (told || !key.startsWith("q:"))) await drop(key); };

// The part of a ticket that names sailing, booking and passenger. It is the same under every key.
const subject = (code) => code.slice(12, 80);
const passengerOf = (sailing, code) => kept.get("s:" + sailing)?.passengers.find((one) => subject(one.ticket_code) === subject(code));

// An outcome against what the phone said.
const lookAt = (id, scan, message, name) => {
  const who = name ?? passengerOf(scan.sailing, scan.code)?.name ?? "";
  return save("l:" + id, { sailing: scan.sailing, name: who, message, until: scan.until });
};

const post = (path, fields) => fetch(path, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
// Whether it asks for a sign-in.
const isRefused = (answer) => answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403;

// Sends what waits. Answers `sent`, `offline` or `signed-out`.
const send = async () => {
  let size = BATCH;
  // Scans of people who are not signed in now wait for them.
  const absent = new Set();
  for (;;) {
    const waiting = all("q:").filter(([, scan]) => !absent.has(scan.owner));
    if (!waiting.length) return "sent";
    const { sailing, owner } = waiting[0][1];
    const batch = waiting.filter(([, scan]) => scan.sailing === sailing && scan.owner === owner).slice(0, size);
    const scans = batch.map(([key, scan]) => ({ scan_id: key.slice(2), ticket_code: scan.code, scanned_at: scan.at }));
    let answer, body;
    try {
      answer = await post(`/pier/${sailing}/board`, { scans: JSON.stringify(scans), ...(owner && { owner }) });
      if (answer.ok || answer.status === 409) body = await answer.json();
    } catch { return "offline"; }
    if (isRefused(answer)) return "signed-out";
    if (answer.status === 429 || answer.status === 408 || answer.status >= 500) return "offline";
    if (answer.ok) await settle(sailing, body.data.results);
    else if (body?.error === "another_person") absent.add(owner);
    else if (answer.status !== 404 && size > 1) size = 1;
    else for (const [key, scan] of batch) { await lookAt(key.slice(2), scan, `HTTP ${answer.status}`); await drop(key); }
  }
};

// The service has the last word.
const settle = async (sailing, results) => {
  for (const result of results) {
    const key = "q:" + result.scan_id;
    const scan = kept.get(key);
    if (!scan) continue;
    const passenger = passengerOf(sailing, scan.code);
    if (passenger) passenger.checked_in_at = result.boarded_at ?? null;
    if (result.outcome !== "boarded") await lookAt(result.scan_id, scan, result.message, result.passenger_name);
    await drop(key);
  }
  const list = kept.get("s:" + sailing);
  if (list) await save("s:" + sailing, list);
};
