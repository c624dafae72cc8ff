// The pier on a phone: the lists of the day, scanning, and a queue that empties by itself.
const id = location.pathname.split("/")[2];
const place = /^[0-9a-f-]{36}$/.test(id ?? "") ? id : null;
const main = document.getElementById("main");
const words = document.getElementById("words").dataset;
const TICKET = /^DMT1[0-9A-F]{204}$/;
const REFRESH = 60_000, RETRY = 5_000, FRESH = 300_000, SAVED_LISTS = 20;
// `sent`, `offline` or `signed-out`.
let state = "sent", busy = false, again = false, timer, wanted = "";

const clone = (name, values = {}) => {
  const part = document.getElementById("t-" + name).content.cloneNode(true);
  for (const element of part.querySelectorAll("[data-t]")) {
    const value = values[element.dataset.t];
    if (value === undefined || value === null || value === "") element.remove(); else element.textContent = value;
  }
  for (const element of part.querySelectorAll("[data-href]")) element.href = values.href;
  return part;
};
const slot = (name) => main.querySelector(`[data-slot="${name}"]`);
const clock = (at, zone) => new Intl.DateTimeFormat("id", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone }).format(new Date(at));
const until = (sailing) => Date.parse(sailing.arrival_at) + DAY;

// --- What the phone knows ---

const waitingFor = (code) => all("q:").find(([, scan]) => subject(scan.code) === subject(code));
const boardedAt = (passenger) => passenger.checked_in_at ?? waitingFor(passenger.ticket_code)?.[1].at;
const isOpen = (list) => !list.sailing.closed_at && list.sailing.status !== "cancelled";

const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
// Whether a code has the signature of the service; `null` where the phone cannot tell.
const isGenuine = async (code) => {
  if (!TICKET.test(code)) return false;
  const keys = kept.get("keys");
  if (!keys || !globalThis.crypto?.subtle) return null;
  const known = keys.find((key) => key.id.toUpperCase() === code.slice(4, 12));
  // A key that is newer than the saved ones.
  if (!known) return null;
  const raw = Uint8Array.from(atob(known.key), (char) => char.charCodeAt(0));
  try {
    const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
    // The prefix is signed, too.
    const signed = bytes("444D5431" + code.slice(4, 80));
    return await crypto.subtle.verify("Ed25519", key, bytes(code.slice(80)), signed);
  } catch { return null; }
};

const enqueue = async (code, sailing) => {
  const scan = crypto.getRandomValues(new Uint32Array(4)).join("-");
  await save("q:" + scan, { sailing: place, owner: kept.get("owner"), code, at: new Date(now()).toISOString(), until: until(sailing) });
  draw();
  sync();
  // Sends them when the network is back and the page is closed.
  navigator.serviceWorker?.ready.then((worker) => worker.sync?.register("send")).catch(() => {});
};

// --- Verdicts ---

// Returns the button of the verdict, if it has one.
const show = (tone, verdict) => {
  slot("verdict").replaceChildren(clone(tone, verdict));
  // It stays at the top: what gets the focus is scrolled below it.
  document.documentElement.style.scrollPaddingTop = slot("verdict").offsetHeight + 16 + "px";
  navigator.vibrate?.(tone === "go" ? 60 : [90, 60, 90]);
  return slot("verdict").querySelector("button");
};
const judge = async (text) => {
  const list = kept.get("s:" + place);
  if (!list) return;
  const code = text.trim().toUpperCase();
  let passenger = list.passengers.find((one) => one.ticket_code === code), genuine = true;
  if (!passenger) {
    genuine = await isGenuine(code);
    // Signed with an earlier key.
    if (genuine) passenger = passengerOf(place, code);
  }
  if (passenger) return board(passenger, code, list);
  if (genuine === false) return show("stop");
  const isOf = (sailing) => code.slice(12, 44) === sailing.replaceAll("-", "").toUpperCase();
  const mine = isOf(place), elsewhere = all("s:").find(([key]) => isOf(key.slice(2)))?.[1].sailing;
  const more = genuine === null ? words.unsure : mine ? words.since : elsewhere ? `${words.elsewhere} ${elsewhere.departs} ${elsewhere.from} → ${elsewhere.to}` : words.elsewhere;
  const allow = show("ask", { word: genuine ? words.genuine : words.ask, more });
  // The service refuses a ticket of another sailing in any case.
  if (!mine || !isOpen(list)) allow.remove();
  else allow.onclick = () => { allow.remove(); enqueue(code, list.sailing); };
};
const board = async (passenger, code, list) => {
  const at = boardedAt(passenger);
  if (at) return show("seen", { name: passenger.name, more: `${words.at} ${clock(at, list.sailing.timezone)} · ${passenger.booking_code}` });
  if (!isOpen(list)) return show("stop", { name: passenger.name, more: words.closed });
  show("go", { name: passenger.name, more: about(passenger) });
  await enqueue(code, list.sailing);
};
const undo = async (passenger) => {
  const waiting = waitingFor(passenger.ticket_code);
  if (waiting) await drop(waiting[0]);
  else {
    const answer = await post(`/pier/${place}/undo`, { ticket_code: passenger.ticket_code, _script: "1" }).catch(() => null);
    if (!answer || answer.status >= 500) state = "offline";
    else if (isRefused(answer)) state = "signed-out";
    const refusal = answer?.status === 409 ? await answer.json() : null;
    if (answer?.ok || refusal?.error === "not_boarded") passenger.checked_in_at = null;
    if (!answer?.ok) show("ask", { word: words.notundone, name: passenger.name, more: refusal?.message ?? words.needs }).remove();
  }
  draw();
  if (state === "sent") sync();
};

// --- Drawing ---

// Draws only what has changed: a finger may be on a button.
const fill = (name, key, parts) => {
  const target = slot(name);
  if (target.dataset.key === key) return;
  target.dataset.key = key;
  target.replaceChildren(...parts());
};
const about = (passenger) => [words[passenger.gender], passenger.age, passenger.booking_code].filter((part) => part !== null && part !== undefined).join(" · ");
const draw = () => {
  const list = place ? kept.get("s:" + place) : kept.get("list");
  if (!list) return;
  if (!main.dataset.app) {
    main.dataset.app = "1";
    main.replaceChildren(clone(place ? "sailing" : "list", list.sailing));
    if (place) start();
  }
  if (place) drawSailing(list); else drawList(list);
  drawState(list);
  const looks = all("l:").filter(([, look]) => !place || look.sailing === place);
  fill("looks", looks.map(([key]) => key).join(), () => looks.map(([key, look]) => {
    const row = clone("look", look);
    row.querySelector("button").onclick = async () => { await drop(key); draw(); };
    return row;
  }));
  slot("looks").parentElement.hidden = !slot("looks").children.length;
};
const drawState = (list) => {
  const unsent = all("q:").length, at = clock(list.at, (list.sailing ?? list.sailings[0])?.timezone);
  fill("state", [unsent, state, at].join(), () => {
    const parts = [clone("kept", { at })];
    if (unsent) parts.unshift(clone("unsent", { count: unsent }));
    if (state !== "sent") parts.push(clone(state, { href: "/console/login?next=" + encodeURIComponent(location.pathname) }));
    return parts;
  });
};
const drawList = (list) => {
  slot("later").hidden = !list.is_later || !list.sailings.length;
  slot("none").hidden = list.sailings.length > 0;
  const shown = list.sailings.map((sailing) => {
    const saved = kept.get("s:" + sailing.id);
    return { ...sailing, href: "/pier/" + sailing.id, on: saved ? `${saved.passengers.filter(boardedAt).length} / ${saved.passengers.length}` : sailing.checked_in, status: words[sailing.status], kept: saved && words.saved };
  });
  fill("sailings", JSON.stringify(shown), () => shown.map((values) => clone("ticket", values)));
};
const drawSailing = (list) => {
  const open = isOpen(list), focused = document.activeElement?.dataset.code;
  const on = list.passengers.filter(boardedAt).length, total = list.passengers.length;
  slot("on").textContent = on;
  slot("all").textContent = total;
  slot("bar").setAttribute("width", total ? (on * 100) / total : 0);
  slot("closed").hidden = open;
  slot("camera").hidden = !open || !camera.detector;
  const found = list.passengers.filter((one) => `${one.name} ${one.booking_code}`.toLowerCase().includes(wanted));
  slot("nobody").hidden = !total || found.length > 0;
  slot("unsold").hidden = total > 0;
  const rows = found.map((passenger) => [passenger, boardedAt(passenger)]);
  fill("people", JSON.stringify([open, rows]), () => rows.map(([passenger, at]) => {
    const row = clone(at ? "on" : "off", { name: passenger.name, about: about(passenger), at: at && clock(at, list.sailing.timezone), who: passenger.name });
    const button = row.querySelector("button");
    button.dataset.code = passenger.ticket_code;
    if (!open) button.remove();
    return row;
  }));
  if (focused) [...main.querySelectorAll("[data-code]")].find((button) => button.dataset.code === focused)?.focus();
};

// --- Input: a name, a booking code, a Bluetooth scanner, the camera ---

const start = () => {
  const field = document.getElementById("q");
  field.value = wanted = new URLSearchParams(location.search).get("q") ?? "";
  const take = () => {
    const text = field.value.trim();
    if (!TICKET.test(text.toUpperCase())) return false;
    field.value = wanted = "";
    judge(text).then(draw);
    return true;
  };
  field.oninput = () => { if (!take()) { wanted = field.value.trim().toLowerCase(); draw(); } };
  field.form.onsubmit = (event) => {
    event.preventDefault();
    // A scanner of another kind of code ends with Enter as well.
    if (!take() && field.value.length > 40) { judge(field.value); field.value = wanted = ""; draw(); }
  };
  wanted = wanted.trim().toLowerCase();
  // A scanner types wherever the focus is.
  document.addEventListener("keydown", (event) => {
    if (event.target === document.body && /^[a-z0-9]$/i.test(event.key) && !event.ctrlKey && !event.metaKey) field.focus();
  });
  slot("camera").onclick = camera.toggle;
  slot("people").onclick = (event) => {
    const code = event.target.closest("button")?.dataset.code, list = kept.get("s:" + place);
    const passenger = list?.passengers.find((one) => one.ticket_code === code);
    if (passenger) boardedAt(passenger) ? undo(passenger) : board(passenger, code, list);
  };
};
const camera = {
  detector: null,
  stream: null,
  async find() {
    if (!("BarcodeDetector" in globalThis) || !navigator.mediaDevices) return;
    const formats = await BarcodeDetector.getSupportedFormats().catch(() => []);
    if (formats.includes("qr_code")) camera.detector = new BarcodeDetector({ formats: ["qr_code"] });
  },
  async toggle() {
    if (camera.stream) return camera.stop();
    try {
      camera.stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    } catch { return void show("ask", { word: words.nocamera, more: words.uselist }).remove(); }
    const video = slot("video");
    video.srcObject = camera.stream;
    video.hidden = false;
    slot("camera").setAttribute("aria-pressed", "true");
    const lock = await navigator.wakeLock?.request("screen").catch(() => null);
    await video.play();
    let last = "", seen = 0;
    while (camera.stream) {
      const codes = await camera.detector.detect(video).catch(() => []);
      for (const { rawValue } of codes) {
        // A ticket stays in the picture for a while.
        const isNew = rawValue !== last || Date.now() - seen > 3000;
        [last, seen] = [rawValue, Date.now()];
        if (isNew) { await judge(rawValue); draw(); }
      }
      await new Promise((done) => { setTimeout(done, 80); });
    }
    lock?.release();
  },
  stop() {
    camera.stream.getTracks().forEach((track) => track.stop());
    camera.stream = null;
    slot("video").hidden = true;
    slot("camera").setAttribute("aria-pressed", "false");
  },
};

// --- Talking to the service ---

const ask = async (path) => {
  let answer;
  try { answer = await fetch(path, { redirect: "manual" }); } catch { state = "offline"; return null; }
  if (isRefused(answer)) { state = "signed-out"; return null; }
  if (!answer.ok) { if (answer.status >= 429) state = "offline"; return null; }
  state = "sent";
  const data = await answer.json();
  if (kept.has("owner") && kept.get("owner") !== data.person) {
    // Another person has signed in. Scans stay: they have no names.
    for (const [key] of [...all("s:"), ...all("l:"), ["list"]]) await drop(key);
  }
  await save("owner", data.person);
  await save("clock", Date.parse(data.now) - Date.now());
  told = true;
  await save("keys", data.keys);
  return data;
};
const askForList = async (sailing) => {
  const data = await ask(`/pier/${sailing}/data`);
  if (data) await save("s:" + sailing, { sailing: data.sailing, passengers: data.passengers, at: now(), until: until(data.sailing) });
};
const refresh = async () => {
  if (place) return askForList(place);
  const data = await ask("/pier/data");
  if (!data) return;
  await save("list", { sailings: data.sailings, is_later: data.is_later, at: now(), until: now() + DAY });
  draw();
  const due = data.sailings.filter((one) => one.status !== "cancelled" && Date.parse(one.arrival_at) > now()).slice(0, SAVED_LISTS);
  for (const one of due) if (state === "sent" && !(kept.get("s:" + one.id)?.at > now() - FRESH)) await askForList(one.id);
};
const sync = async () => {
  if (busy) { again = true; return; }
  busy = true;
  clearTimeout(timer);
  do {
    again = false;
    try {
      await forgetOld();
      const unsent = all("q:").length, outcome = await send();
      if (unsent || outcome !== "sent") state = outcome;
      draw();
      if (outcome === "sent" && !document.hidden) await refresh();
    } catch { state = "offline"; }
    draw();
  } while (again && state === "sent");
  busy = false;
  timer = setTimeout(sync, state === "sent" ? REFRESH : RETRY);
};

// Signing out takes everything from the phone; the answer of the service clears the worker as well.
document.getElementById("sign-out").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (all("q:").length && !confirm(words.unsent)) return;
  await wipe();
  event.target.submit();
});
others.onmessage = () => load().then(draw);
addEventListener("online", sync);
document.addEventListener("visibilitychange", () => { if (!document.hidden) sync(); else if (camera.stream) camera.stop(); });
navigator.serviceWorker?.addEventListener("message", sync);
navigator.serviceWorker?.register("/pier/sw.js", { scope: "/pier" }).catch(() => {});
navigator.storage?.persist?.();
Promise.all([load(), camera.find()]).then(() => { draw(); sync(); });
