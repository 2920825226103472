/** Ranges to start from: those that ship with the package, and the reader's own, kept in this browser. */

import { get } from "../shared/api.js";
import { openDialog } from "../shared/dialog.js";
import { fill, make } from "../shared/dom.js";
import { store, stored } from "../shared/settings.js";

let shipped;

export function presets() {
  shipped ??= get("/presets").catch((error) => {
    shipped = undefined;
    throw error;
  });
  return shipped;
}

const own = () => stored("ranges", {});
const menus = new Set();

function groups(entries) {
  const found = new Map();
  for (const entry of entries) found.set(entry.group, [...(found.get(entry.group) ?? []), entry]);
  return [...found].map(([group, members]) =>
    make("optgroup", { label: group }, ...members.map(({ label, range }) => make("option", { value: range }, label))),
  );
}

/** `current()` is the text to save; `choose(text)` takes a preset. */
export function presetMenu({ current, choose }) {
  const menu = make("select.field.compact", { "aria-label": "Ranges to start from", onchange: () => take() });

  function take() {
    const { value } = menu;
    menu.selectedIndex = 0;
    if (value === "save") saveDialog(current());
    else if (value === "manage") manageDialog();
    else if (value) choose(value);
  }

  async function draw() {
    const mine = Object.entries(own()).map(([label, range]) => ({ group: "Own ranges", label, range }));
    const formations = await presets().then(
      (answer) => answer.presets,
      () => [],
    );
    const ranges = formations.flatMap(({ group, label, oop, ip }) =>
      [oop, ip].map(({ name, range }) => ({ group, label: `${name}: ${label}`, range })),
    );
    fill(
      menu,
      make("option", { value: "" }, "Presets…"),
      ...groups([...mine, ...ranges]),
      make(
        "optgroup",
        { label: "Own" },
        make("option", { value: "save" }, "Save this range…"),
        mine.length ? make("option", { value: "manage" }, "Remove own ranges…") : null,
      ),
    );
  }

  menus.add(draw);
  draw();
  return menu;
}

function keep(ranges) {
  store("ranges", ranges);
  for (const draw of menus) draw();
}

function saveDialog(range) {
  const name = make("input.field", {
    "aria-label": "Name of the range",
    placeholder: "BTN open 40 bb",
    autofocus: true,
  });
  const dialog = openDialog(
    "Save this range",
    make(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          if (!name.value.trim()) return;
          keep({ ...own(), [name.value.trim()]: range });
          dialog.close();
        },
      },
      name,
      make(".row", {}, make("button.button.primary", {}, "Save")),
    ),
  );
}

function manageDialog() {
  const list = make("ul.lock-list");
  const draw = () =>
    fill(
      list,
      ...Object.keys(own()).map((name) =>
        make(
          "li",
          {},
          name,
          make(
            "button.button",
            {
              "aria-label": `Remove ${name}`,
              onclick: () => (
                keep(Object.fromEntries(Object.entries(own()).filter(([each]) => each !== name))),
                draw()
              ),
            },
            "Remove",
          ),
        ),
      ),
    );
  draw();
  openDialog("Own ranges", list);
}

/** Formations: both ranges, pot and stack at once. */
export function formationMenu(choose) {
  const menu = make("select.field", {
    "aria-label": "Formation",
    onchange: async () => {
      const { presets: list } = await presets();
      const found = list.find((each) => each.key === menu.value);
      menu.selectedIndex = 0;
      if (found) choose(found);
    },
  });
  presets()
    .then(({ presets: list }) => {
      const byGroup = Map.groupBy(list, (each) => each.group);
      fill(
        menu,
        make("option", { value: "" }, "Formation…"),
        ...[...byGroup].map(([group, members]) =>
          make("optgroup", { label: group }, ...members.map((each) => make("option", { value: each.key }, each.label))),
        ),
      );
    })
    .catch(() => fill(menu, make("option", { value: "" }, "Formations could not be read")));
  return menu;
}
