"use strict";
// Colours a figure for a theme: of a report's page and of the dashboard alike.
const logpostThemed = (function () {
  function colorscale(kind, colors, theme) {
    if (kind === "category" || kind === "category_or_none") {
      const all = Object.keys(theme.order).sort((a, b) => theme.order[a] - theme.order[b]).map((c) => colors.categories[c]);
      if (kind === "category_or_none") all.unshift("rgba(0,0,0,0)");
      return all.flatMap((c, i) => [[i / all.length, c], [(i + 1) / all.length, c]]);
    }
    const steps = colors[kind];
    return steps.map((color, i) => [i / (steps.length - 1), color]);
  }

  // Black or white, whichever stands out more: by WCAG's relative luminance, 4.58 : 1 on any colour. At 0.1791 both do equally.
  function readableOn(colour) {
    const part = (at) => {
      const share = parseInt(colour.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) > 0.1791 ? "#000000" : "#ffffff";
  }

  // A copy of the figure in one of its views, with the colours of the theme.
  return function (entry, number, { theme, mode, css, width, hidden }) {
    const colors = theme[mode], ink = css("--ink"), soft = css("--soft"), line = css("--line"), paper = css("--paper");
    const view = entry.views[number] || { traces: [], layout: {} };
    const data = entry.figure.data.map((trace, i) => Object.assign({}, trace, view.traces[i] || {}));
    for (const trace of data) {
      const meta = trace.meta || {};
      if (meta.category) {
        trace.marker = Object.assign({}, trace.marker, { color: meta.color ? colors[meta.color] : colors.categories[meta.category] });
        if (trace.marker.pattern) trace.marker.pattern = Object.assign({}, trace.marker.pattern, { fgcolor: paper });
        trace.visible = !hidden(meta.category);
        trace.textfont = { color: ink };
        trace.insidetextfont = { color: readableOn(trace.marker.color) };
      }
      if (meta.categories) {
        const boxes = meta.categories.map((one) => colors.categories[one]);
        trace.marker = Object.assign({}, trace.marker, { colors: boxes });
        trace.textfont = { color: boxes.map(readableOn) };
      }
      if (meta.ink) {
        const colour = meta.ink[mode];
        if (trace.line) trace.line = Object.assign({}, trace.line, { color: colour });
        trace.marker = Object.assign({}, trace.marker, { color: colour, line: Object.assign({}, (trace.marker || {}).line, { color: colour }) });
        if (trace.marker.pattern) trace.marker.pattern = Object.assign({}, trace.marker.pattern, { fgcolor: paper });
        if (trace.fillcolor) trace.fillcolor = colour + "2a";
        if (trace.error_y) trace.error_y = Object.assign({}, trace.error_y, { color: colour });
      }
      if (meta.scale) trace.colorscale = colorscale(meta.scale, colors, theme);
      if (trace.colorbar) {
        const bar = { tickfont: { color: soft, size: 11 }, ticklabeloverflow: width < 560 ? "hide past div" : "allow", title: Object.assign({}, trace.colorbar.title, { font: { color: soft, size: 12 } }) };
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
      // Labels have room by automatic margins; plotly's search for those that overflow costs as much time as the rest of an axis.
      layout[key] = Object.assign({ ticklabeloverflow: "allow" }, layout[key], { gridcolor: line, linecolor: line, tickfont: { color: soft, size: 11 } });
      layout[key].title = Object.assign({}, layout[key].title, { font: { color: soft, size: 12 } });
      if (layout[key].ticklabelposition === undefined) layout[key].ticks = "";
    }
    return { data, layout };
  };
})();
