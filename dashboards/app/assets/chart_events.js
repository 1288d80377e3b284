"use strict";
// A drag or a click in a chart changes the URL directly. Dash would store plotly's event first and draw the chart again
// with the dragged range, although the page is about to be computed for the selection.
const logpostChartEvents = (function () {
  const READ = { plotly_relayout: logpostBrush.zoomed, plotly_selected: logpostBrush.drawn, plotly_click: logpostBrush.clicked };
  const known = new WeakSet();
  let zooming = null;  // the axes that a drag would have if it ended now
  let moving = null;   // the stretch of time that is being zoomed or panned, ps, with the timer that ends it
  const FACTOR = 1.25, STEP = 0.2;  // of the stretch of time: what a turn of the wheel or a press of a key changes
  const SETTLED_MS = 300;  // without a further turn, after which the page is computed for what is seen
  const KEYS = { w: [1 / FACTOR, 0], s: [FACTOR, 0], a: [1, -STEP], d: [1, STEP] };

  // The messages of the call under the pointer, of a chart that has too many to show all.
  function arrows(graph, point) {
    for (const old of graph.querySelectorAll(".arrows")) old.remove();
    const all = graph.layout.meta && graph.layout.meta.arrows, call = point && point.customdata && point.customdata[0];
    if (!all || !call) return;
    const { xaxis, yaxis } = graph._fullLayout, line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("class", "arrows");
    line.setAttribute("d", all.calls.map((calls, i) => {
      if (!calls.includes(call)) return "";
      const [x0, x1] = [all.x0[i], all.x1[i]].map((at) => xaxis.l2p(at)), [y0, y1] = [all.y0[i], all.y1[i]].map((at) => yaxis.l2p(at));
      const angle = Math.atan2(y1 - y0, x1 - x0), barb = (turn) => `M${x1 - 7 * Math.cos(angle + turn)} ${y1 - 7 * Math.sin(angle + turn)}L${x1} ${y1}`;
      return `M${x0} ${y0}L${x1} ${y1}${barb(0.4)}${barb(-0.4)}`;
    }).join(""));
    graph.querySelector(".barlayer").parentNode.append(line);
  }

  // `apply` takes the changes of the URL.
  return function (apply) {
    const read = (graph, name, event, meta = (graph.layout || {}).meta || {}) => {
      const changes = event && !moving ? READ[name](event, meta) : {};
      if (Object.keys(changes).length) apply(changes);
    };
    function listen(graph) {
      known.add(graph);
      for (const name of Object.keys(READ)) {
        graph.removeAllListeners(name);
        graph.on(name, (event) => read(graph, name, event));
      }
      graph.on("plotly_relayouting", (event) => { zooming = { graph, event }; });
      graph.on("plotly_hover", (event) => arrows(graph, event.points[0]));
      graph.on("plotly_unhover", () => arrows(graph, null));
    }
    // The stretch of time that a chart shows, longer by a factor around a place in it (0 to 1), and moved by a part.
    function move(graph, factor, part, place) {
      const meta = graph.layout.meta, { whole_ps: whole, ps_per_x: unit } = meta;
      // A new page may have taken the chart away since the last turn: the stretch continues from there.
      const [from, to] = moving ? moving.range : graph._fullLayout.xaxis.range.map((at) => at * unit);
      const length = Math.min((to - from) * factor, whole);
      const least = from + (to - from - length) * place + part * (to - from);
      const begin = Math.max(0, Math.min(least, whole - length)), range = [begin, begin + length];
      if (moving) clearTimeout(moving.timer);
      moving = { range, timer: setTimeout(() => {
        moving = null;
        if (length > whole * 0.999) return apply({ from: null, to: null });
        const [first, last] = range.map((at) => at / unit);
        read(graph, "plotly_relayout", { "xaxis.range[0]": first, "xaxis.range[1]": last }, meta);
      }, SETTLED_MS) };
      window.Plotly.relayout(graph, { "xaxis.range": range.map((at) => at / unit) });
    }
    const timed = (graph) => !!(graph && graph._fullLayout && ((graph.layout || {}).meta || {}).whole_ps);
    addEventListener("wheel", (event) => {
      const graph = event.target.closest ? event.target.closest(".js-plotly-plot") : null;
      if (!timed(graph) || !(event.ctrlKey || event.shiftKey)) return;  // the wheel alone scrolls the page
      event.preventDefault();
      const { left, width } = graph.querySelector(".nsewdrag").getBoundingClientRect(), turn = Math.sign(event.deltaY || event.deltaX);
      if (event.ctrlKey) move(graph, FACTOR ** turn, 0, Math.min(1, Math.max(0, (event.clientX - left) / width)));
      else move(graph, 1, STEP * turn, 0);
    }, { passive: false });
    addEventListener("keydown", (event) => {
      const how = KEYS[event.key], writes = event.target.closest && event.target.closest("input, textarea, select, [contenteditable]");
      if (!how || writes || event.ctrlKey || event.altKey || event.metaKey) return;
      const graphs = [...document.querySelectorAll(".js-plotly-plot")].filter(timed);
      const graph = graphs.find((one) => one.matches(":hover")) || graphs[0];
      if (graph) move(graph, ...how, 0.5);
    });
    for (const name of ["pointerover", "pointerdown"]) addEventListener(name, (event) => {
      const graph = event.target.closest ? event.target.closest(".js-plotly-plot") : null;
      if (name === "pointerdown") zooming = null;
      if (graph && graph.on && !known.has(graph)) listen(graph);
    }, true);
    // Before plotly draws the zoomed range, so that the server computes during that time. plotly's own event is the same.
    addEventListener("pointerup", () => {
      if (zooming) read(zooming.graph, "plotly_relayout", zooming.event);
      zooming = null;
    }, true);
  };
})();
