/** The curve of a solve: exploitability on a log scale against seconds, with the target as a line. */

import { lineChart, linear } from "../shared/chart.js";
import { fill, make } from "../shared/dom.js";
import { duration } from "../shared/format.js";

/** Scales that contain every point and the target; whole powers of ten are marked. */
export function curveScales(points, target) {
  const values = [...points.map((point) => point[2]), ...(target ? [target] : [])].filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...values, 1)) - 0.05);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values, 0.1)) + 0.02));
  const powers = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const every = Math.ceil(powers.length / 6);
  const end = Math.max(points.at(-1)?.[1] ?? 0, 0.1);
  return {
    x: linear(0, end, (seconds) => (seconds < 1 && seconds > 0 ? `${Number(seconds.toPrecision(1))} s` : duration(seconds).replace("< 1 s", "0 s"))),
    y: {
      scale: (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low),
      ticks: powers.filter((_, place) => place % every === 0).map((power) => [10 ** power, String(Number((10 ** power).toPrecision(1)))]),
    },
  };
}

export function solveCurve() {
  const root = make("figure.solve-curve.panel");
  return {
    root,
    show(points, target, unit) {
      const shown = points.filter((point) => point[2] > 0);
      fill(
        root,
        make("figcaption.label", {}, `Exploitability, ${unit}`),
        shown.length
          ? lineChart({
              width: 720,
              height: 320,
              label: `Exploitability ${unit} against seconds, ${shown.length} measurements, the last ${shown.at(-1)[2].toPrecision(2)}`,
              ...curveScales(shown, target),
              lines: [{ class: "line-ip", points: shown.map(([, seconds, value]) => [seconds, value]) }],
              marks: target ? [{ y: target, class: "target", label: `target ${target}` }] : [],
            })
          : make("p.empty", {}, "The first measurement is on its way."),
      );
    },
  };
}
