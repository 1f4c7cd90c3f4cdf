// The export: which format, which items, and what will be in it, said before it is saved.

import { $, el } from "./core/dom.js";
import { address, get } from "./core/api.js";
import { latest } from "./core/latest.js";

const chosen = { format: "csv", which: "all", at_least: "0" };
const shares = [["0", "any chance"], ["0.8", "80% and above"], ["0.95", "95% and above"], ["0.99", "99% and above"]];

let look;

function draw(reply, failure) {
  const go = $("export-go");
  if (failure || !reply.items) {
    $("export-said").textContent = failure ? failure.message : "Nothing would be in it yet.";
    go.removeAttribute("href");
  } else {
    const { format, which, at_least } = chosen;
    $("export-said").textContent = reply.said;
    go.href = address(`/api/export/${format}?${new URLSearchParams(which === "labelled" ? { which } : { at_least })}`);
  }
  if (failure) return;
  $("export-verdict").textContent = reply.verdict;
  const formats = reply.formats.map(({ name, title, ending, missing }) => el("label", { class: `check${missing ? " missing" : ""}` },
    el("input", { type: "radio", name: "export-format", value: name, checked: name === chosen.format, disabled: Boolean(missing), data: { test: "export-format" } }),
    el("span", {}, title, " ", el("span", { class: "fine" }, missing ?? ending))));
  const focused = document.activeElement?.name === "export-format";
  $("export-formats").replaceChildren(...formats);
  if (focused) $("export-formats").querySelector(":checked")?.focus();
}

export function openExport() {
  if ($("export-dialog").open) return;
  $("export-note").textContent = "";
  $("export-dialog").showModal();
  look();
}

export function startExport() {
  look = latest(() => get(`/api/export?${new URLSearchParams(chosen.which === "labelled" ? { ...chosen, at_least: "0" } : chosen)}`), draw);
  $("export-share").append(...shares.map(([value, words]) => el("option", { value }, words)));
  $("export-dialog").addEventListener("change", ({ target }) => {
    if (target.name === "export-format") chosen.format = target.value;
    if (target.name === "export-which") chosen.which = target.value;
    if (target.id === "export-share") chosen.at_least = target.value;
    $("export-share").disabled = chosen.which === "labelled";
    $("export-go").removeAttribute("href"); // until it is said what will be in it
    look();
  });
  $("export-go").addEventListener("click", () => {
    if ($("export-go").hasAttribute("href")) $("export-note").textContent = "The file is being made; the download begins by itself.";
  });
  for (const button of document.querySelectorAll("[data-open=export]")) button.addEventListener("click", openExport);
}
