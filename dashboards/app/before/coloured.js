"use strict";
// A chart's figure as it is drawn, in a view and the page's theme.
const logpostColoured = (function () {
  const root = document.documentElement;
  // Colours of a theme are looked up once: each look-up makes the browser compute the page's styles.
  const inks = new Map();
  function css(name) {
    const key = root.dataset.theme + name;
    const found = inks.get(key) || getComputedStyle(root).getPropertyValue(name).trim();
    inks.set(key, found);
    return found;
  }

  // With a place, the figure has margins for its labels.
  function figure(payload, view, colours, place) {
    logpostTheme.themed();
    const style = { theme: colours, mode: logpostTheme.mode(), css, width: 1200, hidden: () => false };
    const made = logpostThemed(payload, view === undefined || view === null ? payload.first : view, style);
    return place ? logpostRoom(made, place.clientWidth) : made;
  }
  return { figure };
})();
