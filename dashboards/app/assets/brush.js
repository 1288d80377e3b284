"use strict";
// What a dragged rectangle, a lasso or a click selects: the changes of the URL that a figure's layout.meta stands for.
//   ps_per_x        the horizontal axis is time: picoseconds of one unit
//   rows            the vertical axis has places, each of some ranks: [low, high, low, high, ...] of each
//   paths           the vertical axis has places, each of a call path: its number after those of its callers
//   pick            what a click selects: "rows", "pair" (places of `rows` on both axes), "path", "call or message"
const logpostBrush = (function () {
  const span = (low, high) => low === high ? String(low) : low + "-" + high;

  // Ranks of some rows.
  function ranks(rows, chosen) {
    const spans = [], found = [];
    for (const row of chosen) {
      for (let at = 0; at < (rows[row] || []).length; at += 2) spans.push([rows[row][at], rows[row][at + 1]]);
    }
    for (const [low, high] of spans.sort((a, b) => a[0] - b[0])) {
      const before = found[found.length - 1];
      if (before && low <= before[1] + 1) before[1] = Math.max(before[1], high); else found.push([low, high]);
    }
    return found.map(([low, high]) => span(low, high)).join(",");
  }

  // The places from one end to the other of which there are `count`.
  function places(ends, count) {
    const first = Math.max(0, Math.round(Math.min(...ends))), last = Math.min(count - 1, Math.round(Math.max(...ends)));
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  }

  // Whole windows or cells where there are many: their times are exact and quick to find.
  function stretch(ends, meta) {
    let from = Math.min(...ends) * meta.ps_per_x, to = Math.max(...ends) * meta.ps_per_x;
    const step = (meta.steps_ps || []).find((width) => (to - from) / width >= meta.few_steps) || 1;
    from = Math.max(0, Math.floor(from / step) * step);
    to = Math.ceil(to / step) * step;
    return to > from ? { from, to } : {};
  }

  // Whether a point is inside a polygon: a ray to its right crosses the edge an odd number of times.
  function within(x, y, polygon) {
    let odd = false;
    for (let i = 0, j = polygon.x.length - 1; i < polygon.x.length; j = i++) {
      const [x1, y1, x2, y2] = [polygon.x[i], polygon.y[i], polygon.x[j], polygon.y[j]];
      if ((y1 > y) !== (y2 > y) && x < (x2 - x1) * (y - y1) / (y2 - y1) + x1) odd = !odd;
    }
    return odd;
  }

  // The deepest call path that all of some have in common; each is given after its callers.
  function common(chains) {
    const first = chains[0] || [];
    let depth = 0;
    while (depth < first.length && chains.every((one) => one[depth] === first[depth])) depth++;
    return depth ? first[depth - 1] : null;
  }

  // A part of the picture changed its axes: zoomed into, or shown whole again.
  function zoomed(event, meta) {
    if (event["xaxis.autorange"] || event["yaxis.autorange"]) return meta.ps_per_x ? { from: null, to: null, ranks: null } : {};
    const changes = {};
    if (meta.ps_per_x && event["xaxis.range[0]"] !== undefined) {
      Object.assign(changes, stretch([event["xaxis.range[0]"], event["xaxis.range[1]"]], meta));
    }
    if (meta.rows && event["yaxis.range[0]"] !== undefined) {
      const chosen = places([event["yaxis.range[0]"], event["yaxis.range[1]"]], meta.rows.length);
      if (chosen.length < meta.rows.length) changes.ranks = ranks(meta.rows, chosen) || null;
    }
    return changes;
  }

  // A rectangle or a lasso was drawn.
  function drawn(event, meta) {
    const over = event.range || event.lassoPoints;
    if (!over || !over.x || !over.y) return {};
    const changes = {}, has = event.range ? () => true : (x, y) => within(x, y, over);
    const down = places(over.y, (meta.rows || meta.paths || []).length);
    if (meta.ps_per_x) Object.assign(changes, stretch(over.x, meta));
    if (meta.pick === "pair") {
      const across = places(over.x, meta.rows.length), both = new Set();
      for (const y of down) for (const x of across) if (has(x, y)) both.add(x).add(y);
      if (both.size) changes.ranks = ranks(meta.rows, [...both]) || null;
    } else {
      // Of bars those that the lasso holds; without bars, the rows that the lasso spans.
      const bars = new Set((event.points || []).map((one) => Math.round(one.y)));
      const chosen = event.range || !bars.size ? down : [...bars];
      if (meta.rows && chosen.length) changes.ranks = chosen.length < meta.rows.length ? ranks(meta.rows, chosen) || null : null;
      if (meta.paths && chosen.length) changes.path = common(chosen.map((row) => meta.paths[row]));
    }
    return changes;
  }

  function clicked(event, meta) {
    const point = (event.points || [])[0];
    if (!point) return {};
    if (meta.pick === "rows" && meta.rows) return { ranks: ranks(meta.rows, [Math.round(point.y)]) || null };
    if (meta.pick === "pair" && meta.rows) return { ranks: ranks(meta.rows, [point.x, point.y].map(Math.round)) || null };
    if (meta.pick === "path" && meta.paths) return { path: common([meta.paths[Math.round(point.y)]]) };
    if (meta.pick === "path" && point.id !== undefined) return { path: /^\d+$/.test(point.id) ? point.id : null };
    if (meta.pick === "call or message" && point.customdata) {
      const picked = point.customdata[0], message = String(picked).includes(":");
      return { message: message ? picked : null, call: message ? null : picked };
    }
    return {};
  }

  // Boxes of a call tree have no axes, so plotly drags nothing there: a rectangle over them selects the deepest call
  // path that holds every box it touches.
  const LEAST_PX = 6;
  function overBoxes(apply) {
    let begun = null, sheet = null;
    const box = (event) => {
      const [x1, x2] = [begun.x, event.clientX].sort((a, b) => a - b), [y1, y2] = [begun.y, event.clientY].sort((a, b) => a - b);
      return { left: x1, right: x2, top: y1, bottom: y2 };
    };
    const far = (event) => Math.hypot(event.clientX - begun.x, event.clientY - begun.y) >= LEAST_PX;
    addEventListener("pointerdown", (event) => {
      const graph = event.button === 0 && event.target.closest ? event.target.closest(".js-plotly-plot") : null;
      begun = graph && graph.querySelector(".slice") ? { graph, x: event.clientX, y: event.clientY } : null;
    });
    addEventListener("pointermove", (event) => {
      if (!begun || !far(event)) return;
      event.preventDefault();
      if (!sheet) {
        sheet = document.createElement("div");
        sheet.className = "brush";
        document.body.append(sheet);
      }
      const over = box(event);
      Object.assign(sheet.style, { left: over.left + "px", top: over.top + "px", width: over.right - over.left + "px", height: over.bottom - over.top + "px" });
    });
    addEventListener("pointerup", (event) => {
      if (!begun || !sheet) { begun = null; return; }
      const over = box(event), { ids, parents } = begun.graph.data[0];
      const caller = new Map(ids.map((id, i) => [id, parents[i]]));
      const chain = (id) => id && caller.has(id) ? [...chain(caller.get(id)), id] : [];
      const touched = [...begun.graph.querySelectorAll(".slice")].filter((slice) => {
        const its = slice.querySelector("path").getBoundingClientRect();
        return its.right > over.left && its.left < over.right && its.bottom > over.top && its.top < over.bottom;
      });
      const chains = touched.map((slice) => chain(slice.__data__.data.id)).filter((one) => one.length);
      sheet.remove();
      begun = sheet = null;
      // The click that ends a drag picks no box.
      const drop = (click) => { click.stopPropagation(); click.preventDefault(); };
      addEventListener("click", drop, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", drop, { capture: true }), 0);
      const path = common(chains);
      if (path !== null) apply({ path });
    });
  }

  return { zoomed, drawn, clicked, overBoxes };
})();
