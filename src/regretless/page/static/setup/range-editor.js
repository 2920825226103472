/** One player's range: a grid to paint, the weight of the brush, single combos, text in and out, presets. */

import { get, latest, post } from "../shared/api.js";
import { CLASSES, classOf, handText, placeOf } from "../shared/cards.js";
import { debounced, fill, make, set } from "../shared/dom.js";
import { fixed, percent } from "../shared/format.js";
import { positionOf, readField, writeField } from "./draft.js";
import { paintGrid } from "./paint-grid.js";
import { presetMenu } from "./presets.js";

const NOTHING = { valid: true, weights: null, combos: 0, percent: 0 }; // what an empty text means
const SEATS = { oop: "acts first", ip: "acts last" };

/**
 * `names` are the 1,326 hands in the server's order; `touched()` is called as soon as something is edited, `changed()`
 * once the text of the range says so.
 */
export function rangeEditor(player, { names, fields, changed, touched }) {
  const path = `${player}.range`;
  const askTop = latest((percent, signal) => get("/ranges/top", { percent }, signal));
  const members = CLASSES.map(() => []);
  names.forEach((name, index) => members[placeOf(classOf(name))].push(index));
  let weights = new Array(names.length).fill(0);
  let chosen = 0;
  let topRange = ""; // the text that the slider of the best hands wrote last
  let strokes = 0; // counts changes by hand, so that text read before one undoes neither weights nor slider

  const weightOf = (place) => members[place].reduce((sum, index) => sum + weights[index], 0) / members[place].length;
  const brush = make("input", {
    type: "range",
    min: 5,
    max: 100,
    step: 5,
    value: 100,
    "aria-label": `Weight of the brush for ${player.toUpperCase()}, percent`,
    oninput: () => (brushText.textContent = `${brush.value} %`),
  });
  const brushText = make("output", {}, "100 %");
  const count = make("span.hint", { role: "status" });
  const text = make("textarea.field", {
    rows: 3,
    spellcheck: "false",
    "aria-label": `Range of ${player.toUpperCase()} as text`,
    placeholder: "22+, A2s+, KTo+, AhKh:0.5",
    oninput: () => (strokes++, writeField(path, text.value), changed(), readTyped()),
  });
  const problem = fields.register(path, text);
  const suits = make(".suits", { role: "group", "aria-label": "Combos of one class" });

  const grid = paintGrid(`Range of ${player.toUpperCase()}`, {
    weightOf,
    paint(place, erase) {
      strokes++;
      for (const index of members[place]) weights[index] = erase ? 0 : brush.value / 100;
    },
    done: () => (touched(), writeText()),
    choose(place) {
      chosen = place;
      drawSuits();
    },
  });

  function drawSuits() {
    grid.mark(chosen);
    const combos = members[chosen].map((index) =>
      make(
        "button.combo-choice",
        {
          "aria-pressed": String(weights[index] > 0),
          onclick: () => {
            strokes++;
            weights[index] = weights[index] > 0 ? 0 : brush.value / 100;
            grid.show();
            drawSuits();
            touched();
            writeText();
          },
        },
        handText(names[index]),
        make("small", {}, weights[index] > 0 ? percent(weights[index], 0) : "–"),
      ),
    );
    fill(suits, make("strong", {}, CLASSES[chosen]), ...combos);
  }

  function showCount({ combos, percent: share }) {
    count.textContent = `${fixed(combos, 1)} combos · ${fixed(share, 1)} %`;
    if (text.value === topRange) return;
    top.value = 0; // the range is no longer what the slider chose
    topText.textContent = "";
  }

  /** The server writes the text, so that the editor has no grammar of its own. */
  const writeText = debounced(async () => {
    const before = strokes;
    const answer = await post("/ranges/format", { weights, format: "short" }).catch((error) => ({ error }));
    if (answer.error || before !== strokes) return;
    text.value = answer.text;
    showCount(answer);
    writeField(path, answer.text, { step: true });
    changed();
  }, 60);

  async function readText() {
    const [asked, before] = [text.value, strokes];
    if (!asked.trim()) return take(new Array(names.length).fill(0), NOTHING);
    const answer = await post("/ranges/parse", { text: asked }).catch(() => null);
    if (answer?.valid && text.value === asked && before === strokes) take(answer.weights, answer);
  }
  const readTyped = debounced(readText, 150);

  function take(given, numbers) {
    weights = given;
    showCount(numbers);
    grid.show();
    drawSuits();
  }

  function setText(range, how = { step: true }) {
    strokes++;
    text.value = range;
    writeField(path, range, how);
    changed();
    readText();
  }

  async function copyAs(format) {
    const before = strokes;
    const answer = await post("/ranges/format", { weights, format });
    if (before !== strokes) return;
    await navigator.clipboard?.writeText(answer.text).catch(() => {});
    setText(answer.text);
  }

  const formats = make(
    "select.field.compact",
    {
      "aria-label": "Write the text as",
      title: "Write the text as another tool reads it",
      onchange: () => (formats.value && copyAs(formats.value), (formats.value = "")),
    },
    ...[
      ["", "Text as…"],
      ["short", "short"],
      ["gto+", "GTO+, Flopzilla"],
      ["weights", "PioSOLVER weights"],
    ].map(([value, label]) => make("option", { value }, label)),
  );
  const top = make("input", {
    type: "range",
    min: 0,
    max: 100,
    step: 0.5,
    value: 0,
    "aria-label": `Best hands for ${player.toUpperCase()}, percent`,
    title: "The hands with the most equity against any hand",
    oninput: async () => {
      const before = ++strokes;
      topText.textContent = `${top.value} %`;
      touched();
      const answer = await askTop(top.value).catch(() => null);
      if (!answer || before !== strokes) return;
      topRange = answer.text;
      setText(topRange, {}); // one drag is undone at once
    },
  });
  const topText = make("output", {}, "");
  const title = make("h2");
  const clear = make("button.button", { onclick: () => setText("") }, "Clear");
  const root = make(
    "section.range-editor.panel",
    { "aria-label": `Range of ${player.toUpperCase()}` },
    make("header", {}, title, count),
    grid.root,
    make(".brush", {}, make("span.label", {}, "Weight"), brush, brushText),
    make(".brush", {}, make("span.label", {}, "Top hands"), top, topText),
    text,
    problem,
    make(".row", {}, presetMenu({ current: () => text.value, choose: setText }), formats, clear),
    suits,
  );

  function showTitle() {
    title.textContent = `${positionOf(player)}, ${SEATS[player]}`;
  }

  function refresh() {
    showTitle();
    text.value = readField(path);
    strokes++;
    readText();
  }

  set(root, { "data-player": player });
  return { root, refresh, showTitle };
}
