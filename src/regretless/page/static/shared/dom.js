/** Making elements. Text is always set as text, never parsed as HTML: file and action names come from users' files. */

/**
 * make("button.tab.wide", {onclick: f, "aria-selected": "true"}, "Hands", child)
 *
 * Properties that begin with "on" are listeners; `style` is an object; true is an empty attribute; null and false
 * leave the attribute out.
 */
export function make(description, properties = {}, ...children) {
  const [tag, ...classes] = description.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  set(element, properties);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return element;
}

/** Replace the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Only touch the text if it changed, so that an unchanged digit does not repaint. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Call `work` once, `wait` ms after the last call. */
export function debounced(work, wait = 200) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
}
