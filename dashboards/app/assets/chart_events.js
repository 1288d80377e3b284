"use strict";
// A drag or a click in a chart changes the URL directly. Dash would store plotly's event first and draw the chart again
// with the dragged range, although the page is about to be computed for the selection.
const logpostChartEvents = (function () {
  const READ = { plotly_relayout: logpostBrush.zoomed, plotly_selected: logpostBrush.drawn, plotly_click: logpostBrush.clicked };
  const known = new WeakSet();
  let zooming = null;  // the axes that a drag would have if it ended now

  // `apply` takes the changes of the URL.
  return function (apply) {
    const read = (graph, name, event) => {
      const changes = event ? READ[name](event, (graph.layout || {}).meta || {}) : {};
      if (Object.keys(changes).length) apply(changes);
    };
    function listen(graph) {
      known.add(graph);
      for (const name of Object.keys(READ)) {
        graph.removeAllListeners(name);
        graph.on(name, (event) => read(graph, name, event));
      }
      graph.on("plotly_relayouting", (event) => { zooming = { graph, event }; });
    }
    addEventListener("pointerdown", (event) => {
      const graph = event.target.closest ? event.target.closest(".js-plotly-plot") : null;
      zooming = null;
      if (graph && graph.on && !known.has(graph)) listen(graph);
    }, true);
    // Before plotly draws the zoomed range, so that the server computes during that time. plotly's own event is the same.
    addEventListener("pointerup", () => {
      if (zooming) read(zooming.graph, "plotly_relayout", zooming.event);
      zooming = null;
    }, true);
  };
})();
