/** Fields of the spot: each keeps what was typed and shows the server's sentence about it below. */

import { make, set } from "../shared/dom.js";
import { readField, writeField } from "./draft.js";

/** `changed()` is called after every edit. */
export function fieldSet(changed) {
  const fields = new Map();

  function register(path, input) {
    const problem = make("p.problem", { id: `problem-${path}`, role: "status" });
    set(input, { "aria-describedby": problem.id });
    fields.set(path, { input, problem });
    return problem;
  }

  return {
    register,

    /** A labelled text field for a path of the spot. */
    text(path, label, { placeholder = "", hint = "", title = null } = {}) {
      const input = make("input.field", { placeholder, title, spellcheck: "false", autocomplete: "off", "data-field": path, oninput: () => (writeField(path, input.value), changed()) });
      input.value = readField(path);
      const problem = register(path, input);
      return make("label.labelled", {}, make("span.label", {}, label), input, hint ? make("span.hint", {}, hint) : null, problem);
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
        const found = fields.get(field);
        if (!found) elsewhere.push(`${field ? `${field}: ` : ""}${message}`);
        else if (message !== "is missing" || found.input.value) {
          found.problem.textContent = message;
          set(found.input, { "aria-invalid": "true" });
        }
      }
      return elsewhere;
    },
  };
}
