/** Fields of the spot: each keeps what was typed and shows the server's sentence about it below. */

import { make, set } from "../shared/dom.js";
import { readField, writeField } from "./draft.js";

/** A field that is still to be filled in is no mistake. */
export const isMissing = (message) => message.startsWith("is missing");

/** `changed()` is called after every edit. */
export function fieldSet(changed) {
  const fields = new Map();

  /** `problem` is where its errors are shown, if several fields share one, each under its `name`. */
  function register(path, input, { hint = null, problem = null, name = "" } = {}) {
    const shown = problem ?? make("p.problem", { id: `problem-${path}`, role: "status" });
    set(input, { "aria-describedby": [hint?.id, shown.id].filter(Boolean).join(" ") });
    fields.set(path, { input, problem: shown, name });
    return shown;
  }

  return {
    register,

    /** A labelled text field for a path of the spot. */
    text(path, label, { placeholder = "", hint = "" } = {}) {
      const input = make("input.field", {
        id: `field-${path}`,
        placeholder,
        spellcheck: "false",
        autocomplete: "off",
        "data-field": path,
        oninput: () => (writeField(path, input.value), changed()),
      });
      const note = hint ? make("span.hint", { id: `hint-${path}` }, hint) : null;
      return make(
        ".labelled",
        {},
        make("label.label", { for: input.id }, label),
        input,
        note,
        register(path, input, { hint: note }),
      );
    },

    /** Read every field again, after a file or a preset changed the spot. */
    refresh() {
      for (const [path, { input }] of fields) if (input.dataset.field === path) input.value = readField(path);
    },

    /** Show the server's errors; those of fields that are not on the page are returned. */
    showErrors(errors) {
      for (const { input, problem } of fields.values()) {
        problem.textContent = "";
        set(input, { "aria-invalid": null });
      }
      const elsewhere = [];
      for (const { field, message } of errors) {
        const found = fields.get(field.replace(/\[\d+\].*$/, "")); // of an entry of a list: the list
        if (isMissing(message)) continue;
        if (!found) elsewhere.push(`${field ? `${field}: ` : ""}${message}`);
        else {
          found.problem.textContent ||= found.name ? `${found.name}: ${message}` : message;
          set(found.input, { "aria-invalid": "true" });
          const section = found.input.closest("details");
          if (section) section.open = true;
        }
      }
      return elsewhere;
    },
  };
}
