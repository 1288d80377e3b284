"use strict";
// Shows the page as the server wrote it until the page itself, which is drawn out of sight, is complete.
(function () {
  const look = document.getElementById("first-look");
  if (!look) return;
  const data = (from, name) => JSON.parse((from.querySelector("script." + name) || { textContent: "null" }).textContent);
  const colours = data(look, "colours");
  for (const chart of look.querySelectorAll("figure.sketched")) {
    const payload = data(chart, "payload"), place = chart.querySelector(".place");
    if (!payload || !colours) continue;
    place.style.height = payload.figure.layout.height + "px";
    place.querySelector(".sketch").append(Object.assign(new Image(), { src: logpostColoured.picture(payload, null, colours, place), alt: "" }));
  }

  const PATIENCE_MS = 10000;  // then what is there is shown: it may say what is wrong
  const seen = (chart) => [...chart.querySelectorAll(".sketch img")].some((one) => one.complete) || chart.querySelector(".main-svg, .trouble, .working");
  const complete = () => document.querySelector("#page section, #page .banner") && [...document.querySelectorAll("#page figure.sketched")].every(seen);
  const latest = performance.now() + PATIENCE_MS;
  (function wait() {
    if (complete() || performance.now() > latest) look.remove();
    else setTimeout(wait, 15);
  })();
})();
