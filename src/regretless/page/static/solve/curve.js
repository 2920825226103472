/** The curve of a solve: exploitability on a log scale against seconds, with the target as a line. */

import { fittedChart, linear } from "../shared/chart.js";
import { make, say } from "../shared/dom.js";
import { duration, short } from "../shared/format.js";

/** Scales that contain every point and the target; whole powers of ten are marked. */
function curveScales(points, target) {
  const values = [...points.map((point) => point[2]), ...(target ? [target] : [])].filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...values, 1)) - 0.05);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values, 0.1)) + 0.02));
  const powers = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const every = Math.ceil(powers.length / 6);
  const end = Math.max(points.at(-1)?.[1] ?? 0, 0.01);
  return {
    x: linear(0, end, (seconds) =>
      seconds < 1 && seconds > 0 ? `${short(seconds, 1)} s` : duration(seconds).replace("< 1 s", "0 s"),
    ),
    y: {
      scale: (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low),
      ticks: powers
        .filter((_, place) => place % every === 0)
        .map((power) => [10 ** power, short(10 ** power, 1)]),
    },
  };
}

/** What a chart of the measurements shows. */
export function describeCurve(points, target = null) {
  const shown = points.filter((point) => point[2] > 0);
  return {
    label: `Exploitability against seconds, ${shown.length} measurements, the last ${short(shown.at(-1)[2], 2)}`,
    ...curveScales(shown, target),
    lines: [{ class: "line-ip", points: shown.map(([, seconds, value]) => [seconds, value]) }],
    marks: target ? [{ y: target, class: "target", label: `target ${short(target)}` }] : [],
  };
}

export function solveCurve() {
  const title = make("figcaption.label");
  const chart = fittedChart();
  const none = make("p.hint");
  const root = make("figure.solve-curve.panel", {}, title, none, chart.root);
  return {
    root,
    /** `waiting` is said until there is a measurement. */
    show(points, target, unit, waiting) {
      say(title, unit === "per game" ? "Exploitability per game" : `Exploitability, ${unit}`);
      say(none, waiting);
      none.hidden = points.some((point) => point[2] > 0);
      chart.show(none.hidden ? describeCurve(points, target) : null);
    },
  };
}
