"use strict";
// A picture of a chart of stacked horizontal bars until plotly is loaded: the same figure in the same theme, without
// pointer events. It is an image, because names in an image run no script.
const logpostSketch = (function () {
  const SVG = "http://www.w3.org/2000/svg";
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
  const EDGE = 8, TICK_PX = 11, TITLE_PX = 12, GAP = 8;
  const HATCH = { "/": "M0 6 L6 0", "\\": "M0 0 L6 6", "x": "M0 0 L6 6 M0 6 L6 0", ".": "M2 3 h2", "-": "M0 3 h6" };
  const ruler = document.createElement("canvas").getContext("2d");

  // Labels are written for plotly, where markup is escaped.
  const plain = (text) => String(text).replace(/<[^>]*>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

  function wide(text, size) {
    ruler.font = size + "px " + FONT;
    return ruler.measureText(text).width;
  }

  function add(parent, name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  // 1, 2 or 5 times a power of ten, so that at most `most` ticks fit below `length`.
  function step(length, most) {
    const least = length / most, power = Math.pow(10, Math.floor(Math.log10(least)));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
  }

  function hatched(defs, known, marker) {
    const shape = (marker.pattern || {}).shape;
    if (!HATCH[shape]) return marker.color;
    const key = marker.color + shape;
    if (!known.has(key)) {
      const id = "p" + known.size;
      known.set(key, "url(#" + id + ")");
      const made = add(defs, "pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" });
      add(made, "rect", { width: 6, height: 6, fill: marker.color });
      add(made, "path", { d: HATCH[shape], stroke: marker.pattern.fgcolor });
    }
    return known.get(key);
  }

  // The image's address; `data` and `layout` as `logpostThemed` makes them.
  return function ({ data, layout }, width) {
    const rows = layout.yaxis, across = layout.xaxis, labels = rows.ticktext.map(plain);
    const left = EDGE + Math.max(...labels.map((text) => wide(text, TICK_PX)), 0) + 4 + (rows.title.text ? TITLE_PX + 2 * GAP : 0);
    const bottom = EDGE + TICK_PX + TITLE_PX + 2 * GAP;
    const right = width - EDGE, floor = layout.height - bottom;
    const [last, first] = rows.range, pitch = (floor - EDGE) / (last - first);
    const ends = new Map();
    for (const bar of data) bar.y.forEach((row, i) => ends.set(row, (ends.get(row) || 0) + bar.x[i]));
    const longest = (across.range || [0, 1.05 * Math.max(...ends.values())])[1] || 1;
    const x = (value) => left + value / longest * (right - left), y = (row) => EDGE + (row - first) * pitch;

    const svg = document.createElementNS(SVG, "svg");
    for (const [key, value] of Object.entries({ width, height: layout.height, "font-family": FONT })) svg.setAttribute(key, value);
    const defs = add(svg, "defs", {}), known = new Map();
    const every = step(longest, Math.min(across.nticks || 12, Math.max(2, (right - left) / 70)));
    const digits = Math.max(0, -Math.floor(Math.log10(every)));
    for (let tick = 0; tick <= longest; tick += every) {
      add(svg, "path", { d: `M${x(tick)} ${EDGE}V${floor}`, stroke: across.gridcolor });
      add(svg, "text", { x: x(tick), y: floor + TICK_PX + 3, fill: across.tickfont.color, "font-size": TICK_PX, "text-anchor": "middle" },
        tick.toFixed(digits));
    }
    const ink = { fill: rows.tickfont.color, "font-size": TITLE_PX, "text-anchor": "middle" };
    add(svg, "text", { ...ink, x: (left + right) / 2, y: layout.height - EDGE - 2 }, plain(across.title.text));
    if (rows.title.text) add(svg, "text", { ...ink, transform: `translate(${EDGE + TITLE_PX} ${(EDGE + floor) / 2}) rotate(-90)` }, plain(rows.title.text));
    labels.forEach((text, i) => add(svg, "text", { x: left - 4, y: y(rows.tickvals[i]) + TICK_PX / 3, fill: rows.tickfont.color,
      "font-size": TICK_PX, "text-anchor": "end" }, text));
    const thick = pitch * (1 - (layout.bargap || 0)), begun = new Map();
    for (const bar of data) {
      const fill = hatched(defs, known, bar.marker);
      bar.y.forEach((row, i) => {
        const begin = x(begun.get(row) || 0), end = begin + x(bar.x[i]) - left;
        begun.set(row, (begun.get(row) || 0) + bar.x[i]);
        if (end > begin) add(svg, "rect", { x: begin, y: y(row) - thick / 2, width: end - begin, height: thick, fill });
        if (bar.text && bar.text[i]) {
          const inside = bar.textposition === "inside";
          add(svg, "text", { x: inside ? end - 4 : end + 4, y: y(row) + TITLE_PX / 3, "font-size": TITLE_PX,
            "text-anchor": inside ? "end" : "start", fill: (inside ? bar.insidetextfont : bar.textfont).color }, plain(bar.text[i]).trim());
        }
      });
    }
    return "data:image/svg+xml," + encodeURIComponent(new XMLSerializer().serializeToString(svg));
  };
})();
