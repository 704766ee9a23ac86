const dark = matchMedia("(prefers-color-scheme: dark)");
const charts = new Map([...document.querySelectorAll(".chart")].map(
  chart => [chart, chart.querySelector("script").textContent]));
let printing = false;
function draw(chart) {
  if (chart.closest("details:not([open])")) return;
  const night = dark.matches && !printing;
  const figure = JSON.parse(charts.get(chart), (_, value) => night && DARK[value] || value);
  const layout = {...figure.layout, width: printing ? 660 : undefined, autosize: !printing};
  const bar = chart.closest(".main") ? false : "hover";
  Plotly.react(chart, figure.data, layout, {responsive: true, displaylogo: false, displayModeBar: bar});
}
function drawAll() { [...charts.keys()].forEach(draw); }
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("toggle", event => event.target.querySelectorAll(".chart").forEach(draw), true);
addEventListener("hashchange", reveal);
addEventListener("click", event => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) reveal();
});
dark.addEventListener("change", drawAll);
addEventListener("beforeprint", () => { printing = true; drawAll(); });
addEventListener("afterprint", () => { printing = false; drawAll(); });
drawAll();
reveal();
