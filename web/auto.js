// Saves steps; every page works without it.
"use strict";
// A choice in a filter applies it. A date field changes with each digit.
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-submit]")) event.target.form.requestSubmit();
});
// The head of a table stays in sight, except in a box that scrolls sideways.
const fit = () => { for (const box of document.querySelectorAll(".scroll")) box.classList.toggle("fits", box.scrollWidth <= box.clientWidth); };
for (const change of ["load", "resize", "toggle"]) addEventListener(change, fit, true);
// A second press does not send a form twice. The button stays usable when the page is shown again.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) return event.preventDefault();
  event.target.dataset.sent = "1";
  if (event.submitter) setTimeout(() => { event.submitter.disabled = true; });
});
// Signing out clears this device. Scans of the pier that were not sent would be lost.
const unsent = () => new Promise((done) => {
  const opening = indexedDB.open("pier");
  opening.onupgradeneeded = () => opening.transaction.abort();
  opening.onerror = () => done(0);
  opening.onsuccess = () => {
    const keys = opening.result.transaction("kept").objectStore("kept").getAllKeys();
    keys.onsuccess = () => { opening.result.close(); done(keys.result.filter((key) => key.startsWith("q:")).length); };
  };
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.unsent) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  unsent().then((count) => { if (!count || confirm(form.dataset.unsent)) form.submit(); });
}, true);
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[disabled]")) button.disabled = false;
});
// A link of the error summary moves into its field.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".summary a[href^='#']");
  const field = link && document.getElementById(link.hash.slice(1));
  if (field) { event.preventDefault(); (field.matches("fieldset") ? field.querySelector("input,select,textarea") || field : field).focus(); }
});
