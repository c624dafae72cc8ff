// The worker: answers for the service while there is no network.
const FILES = ["FILES"];
const CACHE = "pier " + FILES.join(" ");
const SHELL = "/pier/shell";
// A page that takes longer is shown from what the phone has.
const PATIENCE = 1000;
const ANY = { ignoreVary: true };

addEventListener("install", (event) => {
  const fill = async () => { await (await caches.open(CACHE)).addAll([...FILES, SHELL]); await skipWaiting(); };
  event.waitUntil(fill());
});
addEventListener("activate", (event) => {
  const tidy = async () => {
    for (const name of await caches.keys()) if (name.startsWith("pier ") && name !== CACHE) await caches.delete(name);
    await clients.claim();
    await load();
  };
  event.waitUntil(tidy());
});
addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (FILES.includes(pathname)) {
    event.respondWith(caches.match(pathname, ANY).then((file) => file ?? fetch(request)));
  } else if (request.mode === "navigate" && (pathname === "/pier" || pathname.startsWith("/pier/"))) {
    const answered = fetch(request).catch(() => null);
    event.respondWith(page(answered, request));
    event.waitUntil(answered.then((answer) => answer?.ok && renew()));
  }
});
const page = async (answered, request) => {
  const shell = await caches.match(SHELL, ANY);
  if (!shell) return (await answered) ?? Response.error();
  const late = new Promise((done) => { setTimeout(done, PATIENCE); });
  const answer = await Promise.race([answered, late]);
  return answer && answer.status < 500 ? answer : shell;
};
// The shell is in the language that was chosen last.
const renew = async () => {
  const shell = await fetch(SHELL).catch(() => null);
  if (shell?.ok) await (await caches.open(CACHE)).put(SHELL, shell);
};
// The network is back. An open page sends its scans itself.
addEventListener("sync", (event) => {
  const empty = async () => {
    const pages = await clients.matchAll({ type: "window" });
    if (pages.length) return pages.forEach((page) => page.postMessage("send"));
    await load();
    if ((await send()) === "offline") throw new Error("later");
  };
  event.waitUntil(empty());
});
