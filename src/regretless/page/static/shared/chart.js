/** Small line charts as SVG, drawn in the page's colours. */

import { fixed } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter(Boolean));
  return element;
}

/** Round numbers that divide an interval into about `count` steps. */
export function ticks(low, high, count = 4) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((each) => each * power >= rough) * power;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(value);
  return found;
}

/**
 * A chart of lines.
 *
 *   x, y     {low, high, ticks: [[value, text]], scale: value => 0..1, label}
 *   lines    [{points: [[x, y]], class, label}]
 *   marks    horizontal lines, [{y, class, label}]
 */
function lineChart({ width, height, x, y, lines, marks = [], label }) {
  const longest = Math.max(...y.ticks.map(([, text]) => text.length));
  const [left, right, top, bottom] = [14 + 7 * longest, 20, 12, 28];
  const across = (value) => left + x.scale(value) * (width - left - right);
  const up = (value) => height - bottom - y.scale(value) * (height - top - bottom);
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });
  for (const [value, text] of y.ticks) {
    chart.append(
      svg("line", { x1: left, x2: width - right, y1: up(value), y2: up(value), class: "rule" }),
      svg("text", { x: left - 6, y: up(value) + 4, "text-anchor": "end" }, text),
    );
  }
  for (const [value, text] of x.ticks)
    chart.append(svg("text", { x: across(value), y: height - 8, "text-anchor": "middle" }, text));
  for (const { y: value, class: name, label: text } of marks) {
    chart.append(
      svg("line", { x1: left, x2: width - right, y1: up(value), y2: up(value), class: name }),
      svg("text", { x: left + 4, y: up(value) - 5, class: name }, text),
    );
  }
  for (const { points, class: name } of lines) {
    const shown = points.filter((point) => point[0] !== null && point[1] !== null);
    chart.append(
      svg("polyline", {
        points: shown.map(([a, b]) => `${fixed(across(a))},${fixed(up(b))}`).join(" "),
        class: `curve ${name}`,
      }),
    );
  }
  return chart;
}

/** A chart that is drawn at the size of its box, so that text keeps its size; `show` takes what `lineChart` takes. */
export function fittedChart() {
  const root = document.createElement("div");
  root.className = "chart-box";
  let shown = null;
  const draw = () => {
    const { clientWidth: width, clientHeight: height } = root;
    root.replaceChildren(...(shown && width > 80 && height > 60 ? [lineChart({ ...shown, width, height })] : []));
  };
  new ResizeObserver(draw).observe(root);
  return {
    root,
    show(description) {
      shown = description;
      draw();
    },
  };
}

/** A straight scale over an interval. */
export function linear(low, high, texts, count = 4) {
  const span = high - low || 1;
  return {
    scale: (value) => (value - low) / span,
    ticks: ticks(low, high, count).map((value) => [value, texts(value)]),
  };
}
