// The parts around the canvas: filter, legend, the selected op, tables. All text is set as text, never as markup.
"use strict";

function made(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
const heading = (text) => made("strong", text);

function pairs(facts) {
  const list = made("dl");
  for (const [word, meaning] of facts) list.append(made("dt", word), made("dd", meaning));
  return list;
}

function button(text, act) {
  const element = made("button", text, { type: "button" });
  element.addEventListener("click", act);
  return element;
}

// --- the selected op -------------------------------------------------------------------------------------------------------
const details = document.getElementById("details"), hint = details.textContent;

function showDetails(op) {
  if (op < 0) return details.replaceChildren(made("p", hint));
  details.replaceChildren(heading(`${trace.names[ops.name[op]]} (op ${ops.number[op]})`), pairs([...describe(op), ...waited(op)]));
  links("reads the results of", ops.inputs[op]);
  links("its result is read by", readers.get(op) ?? []);
}

const waited = (op) => (waitsFor.get(op) ?? []).map(({ lane, i }) => ["waited for", `at ${trace.lines[lane.waits.line[i]]}, ${duration(lane.waits.end[i] - lane.waits.start[i])}`]);

function links(words, others) {
  if (!others.length) return;
  const line = made("p", `${words} `);
  for (const op of others.slice(0, 12)) line.append(button(`${trace.names[ops.name[op]]} (op ${ops.number[op]})`, () => (select(op), reveal(op))), " ");
  if (others.length > 12) line.append(`and ${others.length - 12} more`);
  details.append(line);
}

// --- filter and legend -----------------------------------------------------------------------------------------------------
const matched = document.getElementById("matched");

function applyFilter(text) {
  if (filter.value !== text) filter.value = text;
  setFilter(text);
  matched.textContent = words ? `${countMatches().toLocaleString("en")} of ${ops.count.toLocaleString("en")} ops` : "";
  redraw();
}
filter.addEventListener("input", () => applyFilter(filter.value));
filter.addEventListener("keydown", (event) => {
  if (event.key === "Escape") applyFilter("");
  if (event.key === "Enter") canvas.focus(), step(1);
});

const legend = document.getElementById("legend");
for (const name of trace.legend) {
  const entry = button(trace.names[name], () => applyFilter(words === trace.names[name].toLowerCase() ? "" : trace.names[name]));
  const patch = made("span", "", { class: "patch", "aria-hidden": "true" });
  patch.style.background = trace.colours[name];
  entry.prepend(patch);
  legend.append(entry);
}

// --- tables ------------------------------------------------------------------------------------------------------------------
const numeric = (value) => (/^([\d.,]+( \D+|%)?)?$/.test(value) ? "number" : "");
for (const { title, head, rows, filter: column } of trace.tables) {
  const table = made("table");
  table.append(made("caption", title));
  const line = table.createTHead().insertRow();
  head.forEach((word, i) => line.append(made("th", word, { scope: "col", class: rows.every((row) => numeric(row[i])) ? "number" : "" })));
  const body = table.createTBody();
  for (const row of rows) {
    const cells = body.insertRow();
    row.forEach((value, i) => {
      const cell = cells.insertCell();
      if (i === column) cell.append(button(value, () => (applyFilter(value), canvas.scrollIntoView())));
      else cell.textContent = value;
      cell.className = numeric(value);
    });
  }
  document.getElementById("tables").append(table);
}

new ResizeObserver(resize).observe(canvas.parentElement);
for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) window.matchMedia(query).addEventListener("change", readTheme);
readTheme();
resize();
