"use strict";
// Margins that hold an axis' labels, its title, a colour bar and a legend from the start. plotly finds them by drawing
// a figure twice; where these suffice it draws once, and where they do not, it corrects them as ever.
const logpostRoom = (function () {
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
  const LABEL_PX = 11, DIGITS = "000";
  // The pixels that plotly keeps left of the axis beyond its labels and below it (to the edge, to the axis, and for a
  // title, be it empty), for a colour bar without its labels, for a legend, and, as a share of the plot, between them.
  const LEFT = 29, BELOW = 42, BAR = 61, LEGEND = 37, APART = 0.02;
  const ruler = document.createElement("canvas").getContext("2d");

  function widest(labels) {
    ruler.font = LABEL_PX + "px " + FONT;
    const plain = (text) => String(text).replace(/<[^>]*>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
    return Math.max(0, ...labels.map((text) => ruler.measureText(plain(text)).width));
  }

  // The layout with them; `wide` is the width of the figure.
  return function ({ data, layout }, wide) {
    const margin = Object.assign({}, layout.margin), atLeast = (side, room) => { margin[side] = Math.max(margin[side] || 0, Math.ceil(room)); };
    for (const [key, axis] of Object.entries(layout)) {
      if (!/^[xy]axis/.test(key) || !axis.automargin || axis.scaleanchor || axis.side || axis.overlaying) continue;
      if (key[0] === "x") atLeast("b", BELOW);
      else atLeast("l", LEFT + widest(axis.ticktext || [DIGITS]));
    }
    if (layout.showlegend && layout.legend && layout.legend.y > 1) atLeast("t", LEGEND + APART * layout.height);
    for (const trace of data) {
      const bar = trace.colorbar;
      if (bar && bar.orientation !== "h") atLeast("r", BAR + widest(bar.ticktext || []) + APART * (wide - (margin.l || 0)));
    }
    return { data, layout: Object.assign({}, layout, { margin }) };
  };
})();
