"use strict";
// The theme of the page, before anything of it is drawn: the one that was chosen here, else the system's.
const logpostTheme = (function () {
  const root = document.documentElement, KEY = "logpost-theme";
  function preferred() {
    try { return localStorage.getItem(KEY) || ""; } catch (error) { return ""; }
  }
  const mode = () => preferred() || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  function themed() {
    if (root.dataset.theme !== mode()) root.dataset.theme = mode();
  }
  function other() {
    const next = mode() === "dark" ? "light" : "dark";
    try { localStorage.setItem(KEY, next); } catch (error) { root.dataset.theme = next; }
  }
  themed();
  return { mode, themed, other };
})();
