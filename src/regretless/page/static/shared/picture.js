/**
 * What is on the screen as a picture: boxes, lines and texts of an element as they are drawn, without whatever its
 * scrolling parts hide. Pictures stand alone: they name no style sheet, and every colour is a number.
 */

const SVG = "http://www.w3.org/2000/svg";
const SCALE = 2; // pixels of a PNG for one on the screen

/** An SVG file as text. */
export function svgOf(root) {
  const { width, height, parts } = drawing(root);
  const rows = parts.map((part) => (part.text === undefined ? box(part) : word(part)));
  return `<svg xmlns="${SVG}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n${rows.join("\n")}\n</svg>\n`;
}

/** A PNG file, as a promise of a blob. */
export function pngOf(root) {
  const { width, height, parts } = drawing(root);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * SCALE, height * SCALE];
  const context = canvas.getContext("2d");
  context.scale(SCALE, SCALE);
  for (const part of parts) {
    if (part.text !== undefined) {
      context.font = `${part.weight} ${part.size}px ${part.family}`;
      context.fillStyle = part.fill;
      context.textBaseline = "alphabetic";
      context.fillText(part.text, part.x, part.y, part.width);
    } else if (part.points) {
      context.strokeStyle = part.stroke;
      context.lineWidth = part.thick;
      context.beginPath();
      part.points.forEach(([x, y], place) => (place ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.stroke();
    } else {
      context.beginPath();
      context.roundRect(part.x, part.y, part.width, part.height, part.radius);
      if (part.fill) {
        context.fillStyle = part.fill;
        context.fill();
      }
      if (part.stroke) {
        context.strokeStyle = part.stroke;
        context.lineWidth = part.thick;
        context.stroke();
      }
    }
  }
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const near = (value) => Math.round(value * 100) / 100;

function box({ x, y, width, height, radius = 0, fill, stroke, thick, points }) {
  if (points) {
    const path = points.map(([a, b]) => `${near(a)},${near(b)}`).join(" ");
    return `<polyline points="${path}" fill="none" stroke="${stroke}" stroke-width="${thick}"/>`;
  }
  const edge = stroke ? ` stroke="${stroke}" stroke-width="${thick}"` : "";
  const size = `x="${near(x)}" y="${near(y)}" width="${near(width)}" height="${near(height)}" rx="${radius}"`;
  return `<rect ${size} fill="${fill ?? "none"}"${edge}/>`;
}

function word({ x, y, width, text, size, weight, family, fill }) {
  const font = `font-size="${size}" font-weight="${weight}" font-family="${escaped(family)}"`;
  return `<text x="${near(x)}" y="${near(y)}" ${font} textLength="${near(width)}" lengthAdjust="spacingAndGlyphs" fill="${fill}">${escaped(text)}</text>`;
}

/** The parts of an element, those behind first, relative to its corner. */
function drawing(root) {
  const frame = root.getBoundingClientRect();
  const parts = [{ x: 0, y: 0, width: frame.width, height: frame.height, fill: hex(behind(root)) }];
  collect(root, frame, frame, parts);
  return { width: Math.ceil(frame.width), height: Math.ceil(frame.height), parts };
}

/** The background that is seen through an element. */
function behind(element) {
  for (let each = element; each; each = each.parentElement) {
    const { backgroundColor } = getComputedStyle(each);
    if (hex(backgroundColor)) return backgroundColor;
  }
  return "white";
}

function collect(element, frame, clip, parts) {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden" || element.matches(".for-readers")) return;
  const rect = element.getBoundingClientRect();
  const seen = cut(rect, clip);
  const inside = style.overflow === "visible" || element.namespaceURI === SVG ? clip : seen;
  if (element.namespaceURI === SVG) drawSvg(element, style, frame, parts);
  else if (seen) drawBox(style, seen, frame, parts);
  if (!inside) return;
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) drawText(child, style, frame, inside, parts);
    else if (child.nodeType === Node.ELEMENT_NODE) collect(child, frame, inside, parts);
  }
  if (element.matches("select, input:not([type=range], [type=checkbox])")) drawField(element, style, rect, frame, parts);
}

function cut(rect, clip) {
  const [left, top] = [Math.max(rect.left, clip.left), Math.max(rect.top, clip.top)];
  const [right, bottom] = [Math.min(rect.right, clip.right), Math.min(rect.bottom, clip.bottom)];
  return right > left && bottom > top ? { left, top, right, bottom, width: right - left, height: bottom - top } : null;
}

function drawBox(style, rect, frame, parts) {
  const place = { x: rect.left - frame.left, y: rect.top - frame.top, width: rect.width, height: rect.height };
  const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, rect.height / 2);
  const edge = parseFloat(style.borderTopWidth) > 0 && parseFloat(style.borderLeftWidth) > 0 && hex(style.borderTopColor);
  const fill = hex(style.backgroundColor);
  if (fill || edge) parts.push({ ...place, radius, fill, stroke: edge || null, thick: 1 });
  for (const [colour, from, to] of bands(style.backgroundImage))
    parts.push({ ...place, x: place.x + from * place.width, width: (to - from) * place.width, radius: 0, fill: colour });
  if (style.outlineStyle !== "none" && hex(style.outlineColor))
    parts.push({ ...place, radius, fill: null, stroke: hex(style.outlineColor), thick: parseFloat(style.outlineWidth) });
}

/** The bands of `mixBackground`, each of which begins and ends with a stop: colour, from, to. */
function bands(image) {
  if (!image.startsWith("linear-gradient")) return [];
  const stops = [...image.matchAll(/((?:rgb|color)a?\([^)]*\))\s+([\d.]+)%(?:\s+([\d.]+)%)?/g)];
  const ends = stops.flatMap(([, colour, from, to]) => [from, to].filter(Boolean).map((at) => [hex(colour), at / 100]));
  return ends.flatMap(([colour, from], place) => (place % 2 ? [] : [[colour, from, ends[place + 1]?.[1] ?? 1]]));
}

function drawText(node, style, frame, clip, parts) {
  if (!node.data.trim()) return;
  const range = document.createRange();
  for (const { index, 0: text } of node.data.matchAll(/\S+(?: +\S+)*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + text.length);
    const lines = range.getClientRects();
    const whole = lines.length === 1;
    for (const [at, each] of whole ? [[0, text]] : [...text.matchAll(/\S+/g)].map((found) => [found.index, found[0]])) {
      range.setStart(node, index + at);
      range.setEnd(node, index + at + each.length);
      write(each, range.getBoundingClientRect(), style, frame, clip, parts, node.parentElement.namespaceURI === SVG);
    }
  }
}

function drawField(element, style, rect, frame, parts) {
  const text = element.matches("select") ? element.selectedOptions[0]?.text : element.value || element.placeholder;
  const left = rect.left + parseFloat(style.paddingLeft) + 1;
  const size = parseFloat(style.fontSize);
  const line = { left, right: rect.right, top: rect.top + (rect.height - size * 1.2) / 2, width: null, height: size * 1.2 };
  if (text) write(text, { ...line, bottom: line.top + line.height }, style, frame, rect, parts);
}

function write(text, rect, style, frame, clip, parts, svg = false) {
  const middle = (rect.top + rect.bottom) / 2;
  if (middle < clip.top || middle > clip.bottom || rect.left < clip.left - 1 || rect.left > clip.right) return;
  const size = parseFloat(style.fontSize);
  const shown = style.textTransform === "uppercase" ? text.toUpperCase() : text;
  parts.push({
    text: shown,
    x: rect.left - frame.left,
    y: middle - frame.top + size * 0.36,
    width: rect.width ?? 0.55 * size * shown.length,
    size,
    weight: style.fontWeight,
    family: style.fontFamily,
    fill: hex(svg ? style.fill : style.color),
  });
}

/** The charts' own elements: lines and polylines; their texts are written like any other. */
function drawSvg(element, style, frame, parts) {
  const stroke = hex(style.stroke);
  if (!stroke || !element.matches("line, polyline")) return;
  const matrix = element.getScreenCTM();
  const points = element.points ?? [
    { x: element.x1.baseVal.value, y: element.y1.baseVal.value },
    { x: element.x2.baseVal.value, y: element.y2.baseVal.value },
  ];
  const onScreen = [...points].map(({ x, y }) => new DOMPoint(x, y).matrixTransform(matrix));
  const thick = parseFloat(style.strokeWidth) || 1;
  parts.push({ points: onScreen.map(({ x, y }) => [x - frame.left, y - frame.top]), stroke, thick });
}

/** A computed colour as #rrggbb; null if it cannot be seen. */
function hex(colour) {
  const numbers = colour.match(/-?[\d.]+/g)?.map(Number) ?? [];
  if (numbers.length < 3 || colour === "none" || (numbers[3] ?? 1) < 0.05) return null;
  const scale = colour.startsWith("color(") ? 255 : 1;
  return `#${numbers
    .slice(0, 3)
    .map((each) => Math.min(255, Math.max(0, Math.round(each * scale))).toString(16).padStart(2, "0"))
    .join("")}`;
}
