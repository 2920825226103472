/** Files and texts that leave the page: saved by the browser, or copied. */

import { make } from "./dom.js";

/** Let the browser save a text or a blob under a name. */
export function saveFile(name, content, type = "text/plain") {
  const blob = content instanceof Blob ? content : new Blob([content], { type: `${type};charset=utf-8` });
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Copy a text; on a page that is not served from this machine the browser may refuse its clipboard to scripts. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea.for-readers", { "aria-hidden": "true" });
    field.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
