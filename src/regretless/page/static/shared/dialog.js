/** A modal dialog with a title; the browser's own element keeps focus inside and closes it with Escape. */

import { make } from "./dom.js";

export function openDialog(title, ...content) {
  const dialog = make(
    "dialog",
    { "aria-label": title, onclose: () => dialog.remove() },
    make("h2", {}, title),
    ...content,
    make("form.dialog-end", { method: "dialog" }, make("button.button", {}, "Close")),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
  document.body.append(dialog);
  dialog.showModal();
  dialog.scrollTop = 0; // the focus may be on the button at its end
  return dialog;
}
