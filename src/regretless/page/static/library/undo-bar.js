/** Says what was deleted, and brings it back for as long as the server keeps it. */

import { post } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";

/** `changed()` is called when a file is back, and when the time is over. */
export function undoBar(changed) {
  const root = make(".undo-bar", { role: "status", hidden: true });
  let timer = 0;

  function close() {
    clearInterval(timer);
    root.hidden = true;
  }

  return {
    root,
    close,
    isOpen: () => !root.hidden,
    offer({ id, seconds }, name) {
      clearInterval(timer);
      const left = make("span.hint", { "aria-hidden": "true" });
      const message = make("span", {}, `${name} is deleted`);
      const undo = async () => {
        try {
          await post("/files/restore", { id });
          close();
          changed();
        } catch (error) {
          message.textContent = error.message;
        }
      };
      fill(root, message, left, make("button.button", { onclick: undo }, "Undo"));
      root.hidden = false;
      const tick = () => {
        left.textContent = `${seconds} s`;
        if (seconds-- > 0) return;
        close();
        changed();
      };
      tick();
      timer = setInterval(tick, 1000);
    },
  };
}
