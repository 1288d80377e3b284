"use strict";
// Inflates the plotting library and the data that lie in this page, draws the charts, and recolours them for the theme.
(function () {
  const root = document.documentElement;
  const trouble = document.getElementById("trouble");
  let theme = {}, charts = {};
  const chosen = {}, hidden = new Set();

  function complain(reason) {
    trouble.textContent = "The charts could not be drawn (" + reason + "). Every chart has its table below it.";
    trouble.hidden = false;
    document.querySelectorAll(".plot").forEach((plot) => { plot.hidden = true; });
    document.querySelectorAll(".views").forEach((views) => { views.hidden = true; });
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    root.dataset.charts = "failed";
  }

  async function inflated(id) {
    const packed = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  const asksForDark = matchMedia("(prefers-color-scheme: dark)");
  const mode = () => root.dataset.theme || (asksForDark.matches ? "dark" : "light");
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  function colorscale(kind, colors) {
    if (kind === "category") {
      const all = Object.keys(theme.order).sort((a, b) => theme.order[a] - theme.order[b]);
      return all.flatMap((c, i) => [[i / all.length, colors.categories[c]], [(i + 1) / all.length, colors.categories[c]]]);
    }
    const steps = colors[kind];
    return steps.map((color, i) => [i / (steps.length - 1), color]);
  }

  // Black or white, whichever stands out more (WCAG's relative luminance; 0.18 is where both do equally).
  function readableOn(colour) {
    const part = (at) => Math.pow(parseInt(colour.slice(at, at + 2), 16) / 255, 2.2);
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) > 0.18 ? "#10161e" : "#ffffff";
  }

  // A copy of the figure in its chosen view, with the colours of the theme.
  function themed(name, width) {
    const colors = theme[mode()], ink = css("--ink"), soft = css("--soft"), line = css("--line"), paper = css("--paper");
    const entry = charts[name], number = name in chosen ? chosen[name] : entry.first;
    const view = entry.views[number] || { traces: [], layout: {} };
    const data = entry.figure.data.map((trace, i) => Object.assign({}, trace, view.traces[i] || {}));
    for (const trace of data) {
      const meta = trace.meta || {};
      if (meta.category) {
        trace.marker = Object.assign({}, trace.marker, { color: meta.color ? colors[meta.color] : colors.categories[meta.category] });
        if (trace.marker.pattern) trace.marker.pattern = Object.assign({}, trace.marker.pattern, { fgcolor: paper });
        trace.visible = hidden.has(name + " " + meta.category) ? false : true;
        trace.textfont = { color: ink };
        trace.insidetextfont = { color: readableOn(trace.marker.color) };
      }
      if (meta.ink) {
        const colour = meta.ink[mode()];
        if (trace.line) trace.line = Object.assign({}, trace.line, { color: colour });
        trace.marker = Object.assign({}, trace.marker, { color: colour, line: Object.assign({}, (trace.marker || {}).line, { color: colour }) });
        if (trace.marker.pattern) trace.marker.pattern = Object.assign({}, trace.marker.pattern, { fgcolor: paper });
        if (trace.error_y) trace.error_y = Object.assign({}, trace.error_y, { color: colour });
      }
      if (meta.scale) trace.colorscale = colorscale(meta.scale, colors);
      if (trace.colorbar) {
        const bar = { tickfont: { color: soft, size: 11 }, title: Object.assign({}, trace.colorbar.title, { font: { color: soft, size: 12 } }) };
        if (width < 560) Object.assign(bar, { orientation: "h", y: 1, yanchor: "bottom", x: 0.5, xanchor: "center", ypad: 12 });
        trace.colorbar = Object.assign({}, trace.colorbar, bar);
        if (width < 560) trace.colorbar.title.side = "top";
      }
      trace.hoverlabel = { bgcolor: paper, bordercolor: soft, font: { color: ink } };
    }
    const layout = Object.assign({}, entry.figure.layout, view.layout);
    if (width < 560 && data.some((trace) => trace.colorbar && trace.showscale !== false)) {
      // The colour bar moves above the plot, where the axis title cannot meet it.
      layout.height += 72;
      layout.margin = Object.assign({}, layout.margin, { t: 76 });
    }
    layout.font = Object.assign({}, layout.font, { color: ink });
    for (const key of Object.keys(layout).filter((k) => /^[xy]axis/.test(k))) {
      layout[key] = Object.assign({}, layout[key], { gridcolor: line, linecolor: line, tickfont: { color: soft, size: 11 } });
      layout[key].title = Object.assign({}, layout[key].title, { font: { color: soft, size: 12 } });
      if (layout[key].ticklabelposition === undefined) layout[key].ticks = "";
    }
    return { data, layout };
  }

  function draw(name) {
    const plot = document.querySelector('.plot[data-chart="' + name + '"]');
    if (!plot) return Promise.resolve();
    const first = plot.querySelector(".wait");
    if (first) first.remove();
    const { data, layout } = themed(name, plot.clientWidth);
    const moves = ["xaxis", "yaxis"].some((axis) => layout[axis] && !layout[axis].fixedrange);
    return window.Plotly.react(plot, data, layout, {
      displaylogo: false, responsive: true, displayModeBar: "hover", doubleClick: "reset",
      // These and no others, whatever a release of plotly.js offers: nothing may leave the machine.
      modeBarButtons: [["toImage"], ...(moves ? [["zoom2d", "pan2d", "resetScale2d"]] : [])],
      showSendToCloud: false, plotlyServerURL: "",
      toImageButtonOptions: { format: "svg", filename: "logpost-" + name },
    });
  }

  const drawAll = () => Promise.all(Object.keys(charts).map(draw));

  function listen() {
    document.querySelectorAll(".views").forEach((views) => {
      views.addEventListener("change", (event) => {
        chosen[views.dataset.for] = Number(event.target.value);
        draw(views.dataset.for);
      });
    });
    document.querySelectorAll(".legend[data-legend]").forEach((legend) => {
      legend.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (!button) return;
        const key = legend.dataset.legend + " " + button.dataset.category;
        const off = !hidden.has(key);
        off ? hidden.add(key) : hidden.delete(key);
        button.setAttribute("aria-pressed", String(!off));
        draw(legend.dataset.legend);
      });
    });
    const button = document.getElementById("theme");
    const say = () => { button.textContent = mode() === "dark" ? "Light" : "Dark"; };
    button.hidden = false;
    say();
    button.addEventListener("click", () => { root.dataset.theme = mode() === "dark" ? "light" : "dark"; say(); drawAll(); });
    asksForDark.addEventListener("change", () => { say(); drawAll(); });
    // Paper is white: print in the light colours, then go back.
    let before;
    window.addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; drawAll(); });
    window.addEventListener("afterprint", () => {
      if (before) root.dataset.theme = before; else delete root.dataset.theme;
      drawAll();
    });
  }

  async function start() {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is older than 2023");
    const payload = JSON.parse(await inflated("payload"));
    theme = payload.theme;
    charts = payload.charts;
    const script = document.createElement("script");
    script.textContent = await inflated("plotly");
    document.head.appendChild(script);
    if (!window.Plotly) throw new Error("the plotting library did not start");
    listen();
    await drawAll();
    root.dataset.charts = "drawn";
  }

  start().catch((error) => complain(error.message));
})();
