// Drawing: everything on one canvas, anew in each frame. Of items below a pixel's width, a column shows the share.
"use strict";

const GUTTER = 150, AXIS = 34, ROW = 24, WAIT = 18, TICKS = 10, GAP = 12, CURVE = 64, TITLE = 26;

const canvas = document.getElementById("lanes");
const pen = canvas.getContext("2d");
const whole = { from: -0.01 * trace.span, to: 1.01 * trace.span || 1 };
const view = { ...whole };
const frames = [];  // milliseconds that the last drawings took
let theme, hatch, width = 0, selected = -1, pending = false;

const scale = () => (width - GUTTER) / (view.to - view.from);
const xOf = (time) => GUTTER + (time - view.from) * scale();
const timeOf = (x) => view.from + (x - GUTTER) / scale();

// Of several ranks each has its lanes, and below them its memory, under a title.
const titles = Object.entries(trace.ranks).map(([rank, text]) => ({ rank: +rank, text }));

function layOut() {
  if (!titles.length) return layOutRank(lanes, curves, AXIS + 8);
  let y = AXIS + 2;
  for (const title of titles) {
    title.top = y;
    const ofRank = (row) => row.rank === title.rank;
    y = layOutRank(lanes.filter(ofRank), curves.filter(ofRank), y + TITLE) + 4;
  }
  return y;
}

function layOutRank(lanes, curves, y) {
  for (const lane of lanes) {
    lane.top = y;
    if (lane.front) lane.waitTop = y + TICKS + 2, y = lane.waitTop + WAIT + (lane.spans.start.length ? 2 : 0);
    lane.spanTop = y;
    if (!lane.front || lane.spans.start.length) y += ROW;
    lane.bottom = y;
    y += GAP;
  }
  for (const curve of curves) curve.top = y, y += CURVE + GAP;
  return y;
}

// A canvas that gets another size is empty: it is drawn at once, not in the next frame.
function resize() {
  const height = layOut(), dense = window.devicePixelRatio || 1, wide = canvas.parentElement.clientWidth;
  if (wide === width && canvas.height === Math.round(height * dense)) return;
  width = wide;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * dense), canvas.height = Math.round(height * dense);
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  draw();
}

// Colours come from the style sheet, which knows whether the page is light or dark.
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  theme = Object.fromEntries(["ground", "ink", "quiet", "faint", "strong", "hatch", "hatched"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const brush = tile.getContext("2d");
  brush.fillStyle = theme.hatched;
  brush.fillRect(0, 0, 6, 6);
  brush.strokeStyle = theme.hatch, brush.lineWidth = 1.4;
  for (const shift of [-6, 0, 6]) brush.beginPath(), brush.moveTo(shift, 6), brush.lineTo(shift + 6, 0), brush.stroke();
  hatch = pen.createPattern(tile, "repeat");
  redraw();
}

function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    const began = performance.now();
    draw();
    if (frames.push(performance.now() - began) > 100) frames.shift();
  });
}

function draw() {
  pen.globalAlpha = 1;
  pen.fillStyle = theme.ground;
  pen.fillRect(0, 0, width, canvas.height);
  pen.textBaseline = "middle";
  drawAxis();
  for (const title of titles) drawTitle(title);
  for (const lane of lanes) drawLabel(lane.label, lane.detail, lane.front ? lane.top + 14 : lane.top + ROW / 2);
  for (const lane of lanes) if (lane.front && lane.spans.start.length) write("helps", GUTTER - 8, lane.spanTop + ROW / 2, { align: "right" });
  for (const curve of curves) drawLabel(curve.label, `most: ${bytes(curve.most)}`, curve.top + CURVE / 2);
  pen.save();
  pen.beginPath(), pen.rect(GUTTER, 0, width - GUTTER, canvas.height), pen.clip();
  for (const lane of lanes) drawLane(lane);
  for (const curve of curves) drawCurve(curve);
  if (selected >= 0) drawSelected(selected);
  pen.restore();
}

function write(text, x, y, { size = 11, colour = theme.quiet, align = "left", weight = 400 } = {}) {
  pen.font = `${weight} ${size}px system-ui, sans-serif`;
  pen.fillStyle = colour, pen.textAlign = align;
  pen.fillText(text, x, y);
}

function drawTitle({ text, top }) {
  pen.fillStyle = theme.faint;
  pen.fillRect(0, top, width, TITLE - 8);
  write(text, 6, top + (TITLE - 8) / 2, { size: 12, colour: theme.ink, weight: 600 });
}

function drawLabel(name, detail, y) {
  write(name, 0, y - 7, { size: 13, colour: theme.ink, weight: 600 });
  write(detail, 0, y + 9);
}

// Times above the lanes: 1, 2 or 5 times a power of ten apart, and at least 90 pixels. A bar shows which part is seen.
function drawAxis() {
  const rough = 90 / scale(), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const [size, unit] = unitOf(Math.max(step, view.to / 10));
  const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  for (let n = Math.max(0, Math.ceil(view.from / step)); n * step <= view.to; ++n) {
    const x = Math.round(xOf(n * step)) + 0.5;
    pen.strokeStyle = theme.faint, pen.lineWidth = 1;
    pen.beginPath(), pen.moveTo(x, AXIS), pen.lineTo(x, canvas.height), pen.stroke();
    write(`${((n * step) / size).toFixed(digits)} ${unit}`, Math.min(x, width - 24), AXIS - 10, { align: "center" });
  }
  const bar = (time) => GUTTER + ((time - whole.from) / (whole.to - whole.from)) * (width - GUTTER);
  pen.fillStyle = theme.faint;
  pen.fillRect(GUTTER, 4, width - GUTTER, 5);
  pen.fillStyle = theme.quiet;
  pen.fillRect(bar(view.from), 4, Math.max(3, bar(view.to) - bar(view.from)), 5);
}

function drawLane(lane) {
  if (lane.front) {
    drawIssues(lane);
    drawStretches(lane.waits, lane.waitTop, WAIT, waitPaint(lane.waits));
  }
  if (!lane.spans.start.length) return;
  pen.globalAlpha = 0.3, pen.fillStyle = theme.faint;
  pen.fillRect(xOf(0), lane.spanTop, trace.span * scale(), ROW);
  pen.globalAlpha = 1;
  drawStretches(lane.spans, lane.spanTop, ROW, opPaint(lane.spans));
}

const opPaint = (spans) => ({
  style: (i) => trace.colours[ops.name[spans.op[i]]],
  lit: (i) => matches(spans.op[i]) || spans.op[i] === selected,
  label: (i) => trace.names[ops.name[spans.op[i]]],
  ink: (i) => trace.inks[ops.name[spans.op[i]]],
  fused: (i) => ops.members[spans.op[i]] > 1,
});

const waitPaint = (waits) => ({
  style: () => hatch,
  lit: (i) => waitMatches(waits, i),
  label: (i) => `${trace.names[waits.name[i]]}  ${trace.lines[waits.line[i]]}`,
  ink: () => theme.ink,
  fused: () => false,
  plate: true,  // letters on hatching are hard to read
});

function drawStretches(spans, y, height, paint) {
  const { start, end } = spans, perNs = scale();
  for (let i = firstAfter(end, view.from); i < start.length && start[i] < view.to; ) {
    if ((end[i] - start[i]) * perNs >= 1) drawBox(spans, i++, y, height, paint);
    else i = drawColumn(spans, i, y, height, paint);
  }
}

function drawBox({ start, end }, i, y, height, paint) {
  const left = Math.max(xOf(start[i]), GUTTER - 4), right = Math.min(xOf(end[i]), width + 4);
  const wide = right - left > 3 ? right - left - 0.7 : right - left;
  pen.globalAlpha = paint.lit(i) ? 1 : 0.15;
  pen.fillStyle = paint.style(i);
  pen.fillRect(left, y, wide, height);
  if (paint.fused(i)) pen.fillStyle = paint.ink(i), pen.fillRect(left, y + height - 4, wide, 1.5);
  if (wide > 26) drawName(paint.label(i), paint.ink(i), left, wide, y + height / 2, paint.plate);
  pen.globalAlpha = 1;
}

function drawName(name, ink, left, wide, y, plate) {
  const from = Math.max(left, GUTTER), room = left + wide - from - 8;
  pen.font = "12px system-ui, sans-serif";
  const letters = Math.floor((room / pen.measureText(name).width) * name.length);
  if (letters < Math.min(4, name.length)) return;
  const text = letters >= name.length ? name : `${name.slice(0, letters - 1)}…`;
  if (plate) pen.fillStyle = theme.ground, pen.fillRect(from + 1, y - 7, pen.measureText(text).width + 6, 14);
  write(text, from + 4, y, { size: 12, colour: ink });
}

// One pixel for all that begins in it and is narrower: in the colour of the longest (of those that the filter means, if
// any), stronger the more of the pixel they fill. Returns the place after them.
function drawColumn({ start, end }, i, y, height, paint) {
  const perNs = scale(), x = Math.floor(xOf(start[i])), until = timeOf(x + 1);
  let filled = 0, best = i, bestLit = paint.lit(i);
  for (; i < start.length && start[i] < until && (end[i] - start[i]) * perNs < 1; ++i) {
    const lit = paint.lit(i), longer = end[i] - start[i] > end[best] - start[best];
    filled += (end[i] - start[i]) * perNs;
    if (lit === bestLit ? longer : lit) best = i, bestLit = lit;
  }
  pen.globalAlpha = (bestLit ? 1 : 0.15) * (0.25 + 0.75 * Math.min(1, filled));
  pen.fillStyle = paint.style(best);
  pen.fillRect(x, y, 1, height);
  pen.globalAlpha = 1;
  return i;
}

// A line where an op was issued; of several on one pixel, one.
function drawIssues({ issues, issueTimes, top }) {
  for (let i = firstAfter(issueTimes, view.from); i < issues.length && issueTimes[i] < view.to; ) {
    const x = Math.floor(xOf(issueTimes[i])), until = timeOf(x + 1);
    let best = issues[i];
    for (; i < issues.length && issueTimes[i] < until; ++i) if (!matches(best)) best = issues[i];
    pen.globalAlpha = matches(best) ? 1 : 0.15;
    pen.fillStyle = trace.colours[ops.name[best]];
    pen.fillRect(x, top, 1.2, TICKS);
    i = Math.max(i, firstAfter(issueTimes, until - 1e-6));
  }
  pen.globalAlpha = 1;
}

// Bytes over time, as a stair; per pixel its highest step.
function drawCurve({ times, values, top, most }) {
  const height = (value) => top + CURVE - (value / (most || 1)) * (CURVE - 4);
  let i = Math.max(0, firstAfter(times, view.from) - 1);
  pen.beginPath();
  pen.moveTo(Math.max(GUTTER, xOf(times[i] ?? 0)), top + CURVE);
  let x = Math.max(GUTTER, xOf(times[i] ?? 0)), level = values[i] ?? 0;
  pen.lineTo(x, height(level));
  for (++i; i < times.length && times[i] < view.to; ) {
    x = xOf(times[i]);
    const until = timeOf(Math.floor(x) + 1);
    let high = values[i];
    pen.lineTo(x, height(level));
    for (; i < times.length && times[i] < until; ++i) high = Math.max(high, values[i]), level = values[i];
    pen.lineTo(x, height(high)), pen.lineTo(x, height(level));
  }
  x = Math.min(width, xOf(trace.span));
  pen.lineTo(x, height(level)), pen.lineTo(x, top + CURVE), pen.closePath();
  pen.fillStyle = theme.faint, pen.fill();
  pen.strokeStyle = theme.quiet, pen.lineWidth = 1.2, pen.stroke();
}

// --- the selected op: a frame, and arrows issue -> run -> wait, and from and to other ops ---------------------------------
function drawSelected(op) {
  if (!first[op]) return;
  const middle = (place) => place.lane.spanTop + ROW / 2;
  const begin = { x: xOf(first[op].start), y: middle(first[op]) }, end = { x: xOf(last[op].end), y: middle(last[op]) };
  for (const input of ops.inputs[op]) if (last[input]) arrow({ x: xOf(last[input].end), y: middle(last[input]) }, begin, theme.quiet);
  for (const reader of readers.get(op) ?? []) if (first[reader]) arrow(end, { x: xOf(first[reader].start), y: middle(first[reader]) }, theme.quiet);
  const issuer = lanes[ops.lane[op]];
  if (issuer) arrow({ x: xOf(ops.issued[op]), y: issuer.top + TICKS }, begin, theme.strong, 2);
  for (const { lane, i } of waitsFor.get(op) ?? []) arrow(end, { x: xOf(lane.waits.end[i]), y: lane.waitTop + WAIT / 2 }, theme.strong, 2);
  pen.strokeStyle = theme.strong, pen.lineWidth = 2;
  for (const lane of lanes)
    for (let i = firstAfter(lane.spans.end, view.from); i < lane.spans.op.length && lane.spans.start[i] < view.to; ++i)
      if (lane.spans.op[i] === op) pen.strokeRect(xOf(lane.spans.start[i]) - 1, lane.spanTop - 1, Math.max(2, (lane.spans.end[i] - lane.spans.start[i]) * scale()) + 1, ROW + 2);
}

function arrow(from, to, colour, thick = 1.2) {
  const bend = Math.max(14, Math.min(90, Math.abs(to.x - from.x) / 2));
  pen.strokeStyle = pen.fillStyle = colour, pen.lineWidth = thick;
  pen.beginPath(), pen.moveTo(from.x, from.y), pen.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y), pen.stroke();
  pen.beginPath(), pen.moveTo(to.x, to.y), pen.lineTo(to.x - 8, to.y - 4), pen.lineTo(to.x - 8, to.y + 4), pen.fill();
}
