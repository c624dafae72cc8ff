// Keeps the number at the bell up to date. The stream is opened when the page is visible.
{
  const address = document.body.dataset.live;
  const bell = document.getElementById("unread");
  let stream;
  const listen = () => {
    if (document.hidden) { stream?.close(); stream = null; return; }
    if (stream || !address || !bell) return;
    stream = new EventSource(address);
    const arrived = () => { bell.textContent = Number(bell.textContent) + 1; delete bell.dataset.none; };
    stream.addEventListener("notification", arrived);
    stream.onmessage = arrived;
  };
  document.addEventListener("visibilitychange", listen);
  addEventListener("load", listen);
  addEventListener("pagehide", () => { stream?.close(); stream = null; });
}
