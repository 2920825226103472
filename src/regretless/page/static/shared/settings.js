/** What the reader keeps in this browser: theme, palette, own ranges, the spot being set up, locks not yet solved. */

const PREFIX = "regretless.";

export function stored(name, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise; // storage may be blocked, or hold something that an older page wrote
  }
}

export function store(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage the page works; it only forgets.
  }
}

export const THEMES = [
  { theme: "dark", palette: "usual", label: "Dark" },
  { theme: "light", palette: "usual", label: "Light" },
  { theme: "dark", palette: "safe", label: "Dark, colour-blind palette" },
  { theme: "light", palette: "safe", label: "Light, colour-blind palette" },
];

/** Apply the stored theme, or the system's if none was chosen. */
export function applyTheme() {
  const system = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  document.documentElement.dataset.theme = stored("theme", system);
  document.documentElement.dataset.palette = stored("palette", "usual");
}

export function setTheme({ theme, palette }) {
  store("theme", theme);
  store("palette", palette);
  applyTheme();
}

export function currentTheme() {
  const { theme, palette } = document.documentElement.dataset;
  return THEMES.find((each) => each.theme === theme && each.palette === palette);
}
