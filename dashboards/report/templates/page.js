"use strict";
// Inflates the plotting library and the data of this page, draws the charts, and recolours them for the theme.
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

  function draw(name) {
    const plot = document.querySelector('.plot[data-chart="' + name + '"]');
    if (!plot) return Promise.resolve();
    const first = plot.querySelector(".wait");
    if (first) first.remove();
    const entry = charts[name], number = name in chosen ? chosen[name] : entry.first;
    const style = { theme, mode: mode(), css, width: plot.clientWidth, hidden: (category) => hidden.has(name + " " + category) };
    const { data, layout } = logpostThemed(entry, number, style);
    const moves = ["xaxis", "yaxis"].some((axis) => layout[axis] && !layout[axis].fixedrange);
    return window.Plotly.react(plot, data, layout, {
      displaylogo: false, responsive: true, displayModeBar: "hover", doubleClick: "reset", showTips: false,
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
