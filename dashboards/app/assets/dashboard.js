"use strict";
// What happens in the browser alone: colours and views of charts, when they are drawn, and the way of a selection into the URL.
(function () {
  const none = () => window.dash_clientside.no_update;

  // The URL's query with some keys changed; null removes one.
  function query(search, changes) {
    const found = new URLSearchParams(search || "");
    if (!("name" in changes)) found.delete("name");  // it was another selection's
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) found.delete(key); else found.set(key, String(value));
    }
    const text = found.toString();
    return text ? "?" + text : "";
  }

  // What of a query is the selection.
  const SELECTION = ["run", "from", "to", "ranks", "path", "name"];
  function selected(search) {
    const all = new URLSearchParams(search || "");
    return new URLSearchParams(SELECTION.filter((key) => all.get(key)).map((key) => [key, all.get(key)])).toString();
  }

  // The selections that led here, the present one last, kept for this tab. The browser reports every address; Dash
  // reports only the last of several that follow each other faster than its callbacks.
  const TRAIL = "logpost-trail", LONGEST_TRAIL = 50;
  let trail = [];
  try { trail = JSON.parse(sessionStorage.getItem(TRAIL)) || []; } catch (error) { trail = []; }
  function walked() {
    const now = selected(location.search);
    if (trail.length > 1 && trail[trail.length - 2] === now) trail.pop();
    else if (trail[trail.length - 1] !== now) trail.push(now);
    trail = trail.slice(-LONGEST_TRAIL);
    try { sessionStorage.setItem(TRAIL, JSON.stringify(trail)); } catch (error) { /* it lasts as long as the page */ }
  }
  for (const name of ["pushState", "replaceState"]) {
    const plain = history[name];
    history[name] = function (...all) {
      plain.apply(this, all);
      walked();
    };
  }
  addEventListener("popstate", walked);
  walked();

  // What is drawn or picked in a chart selects.
  function apply(changes) {
    const next = query(location.search, changes);
    if (next !== location.search) window.dash_clientside.set_props("url", { search: next });
  }
  logpostChartEvents(apply);
  logpostBrush.overBoxes(apply);

  const SUITES = "/_dash-component-suites/";
  // Charts follow the text: plotly.js is loaded while charts are computed, after the scripts that the text needs.
  addEventListener("DOMContentLoaded", () => fetch(SUITES + "plotly/package_data/plotly.min.js", { priority: "low" }).catch(() => null));
  // One page has sliders, and Dash would load their script only when that page opens.
  addEventListener("load", () => (window.requestIdleCallback || setTimeout)(() => {
    document.head.append(Object.assign(document.createElement("script"), { src: SUITES + "dash/dcc/async-slider.js", async: true }));
  }));

  // Resolves after the next frame; a hidden page has no frames.
  const shown = () => new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done, 0));
    setTimeout(done, 100);
  });
  // Charts whose switch is being set to the view in which they are drawn already.
  const begun = new WeakMap();
  // The data of a page arrive before the page is mounted.
  async function mounted(id, part) {
    for (let frames = 0; frames < 20 && !placeOf(id, part); frames++) await shown();
    return placeOf(id, part);
  }
  const placeOf = (id, part) => document.getElementById(`{"chart":${JSON.stringify(id.chart)},"part":"${part}"}`);

  // Charts out of sight wait until they are in sight or the browser is idle: visible charts are drawn first.
  const waiting = new Map(), REST_MS = 400, STEP_MS = 60;
  let resting = null;
  const sight = new IntersectionObserver((all) => all.filter((one) => one.isIntersecting).forEach((one) => now(one.target)));
  function now(element) {
    const act = waiting.get(element);
    sight.unobserve(element);
    waiting.delete(element);
    if (act) act();
  }
  function whenSeen(element, act) {
    waiting.set(element, act);
    sight.observe(element);
    clearTimeout(resting);
    resting = setTimeout(rest, REST_MS);
  }
  function inSight(element) {
    const box = element.getBoundingClientRect();
    return box.top < innerHeight && box.bottom > 0;
  }
  const charts = () => [...document.querySelectorAll("#page figure.chart")];
  function rest() {
    for (const one of waiting.keys()) if (!one.isConnected) { sight.unobserve(one); waiting.delete(one); }
    const drawn = charts().every((one) => waiting.has(one) || one.querySelector(".main-svg, .trouble, .working"));
    const [next] = waiting.keys();
    if (next && drawn) now(next);
    if (next) resting = setTimeout(rest, STEP_MS);
  }
  addEventListener("beforeprint", () => [...waiting.keys()].forEach(now));
  function askFor(figure) {
    window.dash_clientside.set_props({ part: "tick", chart: figure.dataset.chart }, { n_intervals: Math.round(performance.now()) });
  }

  // The buttons that stop a chart's work, or begin it.
  addEventListener("click", (event) => {
    const button = event.target.closest("figure.chart button[data-again]");
    if (!button) return;
    const place = { part: "pressed", chart: button.closest("figure.chart").dataset.chart };
    window.dash_clientside.set_props(place, { data: { again: button.dataset.again, at: performance.now() } });
  });

  // A name that is forgotten. The page may draw its links anew at that moment: buttons that count their clicks would lose it.
  addEventListener("click", (event) => {
    const button = event.target.closest("#named-links button");
    if (button) window.dash_clientside.set_props("forgotten", { data: { name: button.dataset.name, at: performance.now() } });
  });

  let grids = null;
  function withGrids() {
    grids = grids || new Promise((done, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src: SUITES + "dash_ag_grid/dash_ag_grid.min.js", onload: done, onerror: failed });
      document.head.append(script);
    });
    return grids;
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    logpost: {
      // A chart's figure in the chosen view and theme.
      draw: function (view, theme, payload, colours, id) {
        if (!payload) return none();
        const [cause] = window.dash_clientside.callback_context.triggered, drawn = begun.get(payload) === view;
        begun.delete(payload);
        return drawn && cause && cause.prop_id.endsWith(".value") ? none() : logpostColoured.figure(payload, view, colours, placeOf(id, "place"));
      },
      // The chart names the view that it starts with, unless the page or a reader has chosen one.
      started: function (payload, view) {
        if (!payload || (view !== undefined && view !== null)) return none();
        begun.set(payload, payload.first);
        return payload.first;
      },
      // The charts of a page that is new.
      ask: async function (page) {
        const known = new Set();
        const look = () => charts().filter((one) => !known.has(one.dataset.chart)).forEach((one) => {
          known.add(one.dataset.chart);
          if (one.dataset.made) return;
          if (inSight(one)) askFor(one); else whenSeen(one, () => askFor(one));
        });
        // Charts that exist before the page is painted are requested during the paint; those that the paint adds, after it.
        await Promise.race([new Promise(requestAnimationFrame), shown()]);
        look();
        await shown();
        look();
        return none();
      },
      // The chart itself, as soon as the text of the page is painted: to read plotly.js costs the browser half a
      // second, in which nothing else is drawn.
      later: async function (payload, view, made, colours) {
        if (!payload) return none();
        const place = await mounted(made.props.id, "place"), chart = place && place.closest("figure.chart");
        // The page carries the data of this chart, so the chart was not requested when it was scrolled into sight.
        if (chart && chart.dataset.made && !inSight(chart)) await new Promise((seen) => whenSeen(chart, seen));
        const figure = logpostColoured.figure(payload, view, colours, place), graph = Object.assign({}, made, { props: Object.assign({}, made.props, { figure }) });
        if (!window.Plotly) await shown();
        return graph;
      },
      grid: async function (made) {
        const place = document.getElementById(`{"grid":${JSON.stringify(made.props.id)},"part":"grid-place"}`);
        if (place) await new Promise((seen) => whenSeen(place, seen));
        await withGrids();
        return made;
      },
      height: function (payload, old) {
        // Not computed yet: kept free; failed: the line below says why.
        if (payload === null) return { display: "none" };
        return payload ? { minHeight: payload.figure.layout.height + "px" } : old;
      },
      theme: function (clicks) {
        if (clicks) logpostTheme.other();
        logpostTheme.themed();
        return [logpostTheme.mode(), logpostTheme.mode() === "dark" ? "Light" : "Dark"];
      },
      // What the form of the selection says, once its button was pressed.
      filled: (clicks, ...fields) => clicks ? [clicks, ...fields] : none(),
      // The query that the fields of a page state; only one page is open.
      wanted: (queries) => queries.find((one) => typeof one === "string") ?? none(),
      // Whether there is no selection to go back to; Dash calls this before the browser has the new address.
      first: async function () {
        await shown();
        return trail.length < 2;
      },
      // A step back takes the present selection away.
      back: function (clicks, search) {
        if (!clicks || trail.length < 2) return none();
        const before = new URLSearchParams(trail[trail.length - 2]);
        return query(search, Object.fromEntries(SELECTION.map((key) => [key, before.get(key)])));
      },
    },
  });
})();
