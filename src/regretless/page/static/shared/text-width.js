/** How wide digits are in an element's font, measured on a canvas so that nothing is laid out. */

const canvas = document.createElement("canvas").getContext("2d");

/** A function from a short text to its width in px, in the font of `element`; every digit counts as the widest one. */
export function textMeasure(element) {
  const { fontWeight, fontSize, fontFamily, letterSpacing } = getComputedStyle(element);
  const font = `${fontWeight} ${fontSize} ${fontFamily}`;
  const spacing = parseFloat(letterSpacing) || 0;
  const known = new Map(); // by the text with every digit a 0
  return (text) => {
    const pattern = text.replace(/\d/g, "0");
    if (!known.has(pattern)) {
      canvas.font = font;
      known.set(pattern, canvas.measureText(pattern).width + spacing * pattern.length);
    }
    return known.get(pattern);
  };
}
