// Looks every ten seconds whether the page has got further, such as a payment that arrives.
{
  const waiting = document.querySelector("[data-waits]");
  const look = async () => {
    const answer = document.hidden ? null : await fetch(location.href).catch(() => null);
    if (answer?.ok && !(await answer.text()).includes(`data-waits="${waiting.dataset.waits}"`)) return location.reload();
    setTimeout(look, 10_000);
  };
  if (waiting) setTimeout(look, 10_000);
}
