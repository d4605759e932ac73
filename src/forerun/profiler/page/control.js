// Mouse, touch and keys: zoom, pan, tooltip, selection.
"use strict";

const tip = document.getElementById("tip"), filter = document.getElementById("filter");

// --- zoom and pan ------------------------------------------------------------------------------------------------------
function show(from, to) {
  const least = 50, most = whole.to - whole.from;  // nanoseconds
  const length = Math.min(most, Math.max(least, to - from)), middle = (from + to) / 2;
  view.from = Math.min(Math.max(middle - length / 2, whole.from), whole.to - length);
  view.to = view.from + length;
  tip.hidden = true;
  redraw();
}

// By a factor: the time at pixel `x` stays there.
function zoom(factor, x = GUTTER + (width - GUTTER) / 2) {
  const time = timeOf(x);
  show(time - (time - view.from) * factor, time + (view.to - time) * factor);
}
const pan = (pixels) => show(view.from + pixels / scale(), view.to + pixels / scale());
const fit = () => show(whole.from, whole.to);

// Brings an op into view, and makes it wide enough to be seen.
function reveal(op) {
  if (!first[op]) return;
  const from = Math.min(ops.issued[op], first[op].start), to = last[op].end;
  const inside = from >= view.from && to <= view.to, wide = (to - first[op].start) * scale() >= 8;
  if (!inside || !wide) show(from - (to - from) * 0.5 - 100, to + (to - from) * 0.5 + 100);
}

// --- positions ---------------------------------------------------------------------------------------------------------
// The item at a pixel: an op, or a wait of a lane, or null.
function at(x, y) {
  const time = timeOf(x), reach = 3 / scale();
  if (x < GUTTER) return null;
  for (const lane of lanes) {
    if (y < lane.top || y > lane.bottom) continue;
    if (!lane.front || y >= lane.spanTop) return found_op(lane.spans, nearest(lane.spans, time, reach));
    if (y >= lane.waitTop) return found_wait(lane, nearest(lane.waits, time, reach));
    const issue = nearest({ start: lane.issueTimes, end: lane.issueTimes }, time, reach);
    return issue < 0 ? null : { op: lane.issues[issue], more: 0 };
  }
  return null;
}

// An op with how many others share its pixel.
function found_op(spans, i) {
  if (i < 0) return null;
  const x = Math.floor(xOf(spans.start[i]));
  const more = firstAfter(spans.start, timeOf(x + 1)) - firstAfter(spans.start, timeOf(x)) - 1;
  return { op: spans.op[i], more: Math.max(0, more) };
}
const found_wait = (lane, i) => (i < 0 ? null : { lane, wait: i });

function memoryAt(x, y) {
  const curve = curves.find((c) => y >= c.top && y <= c.top + CURVE);
  if (!curve || x < GUTTER) return null;
  const i = firstAfter(curve.times, timeOf(x)) - 1;
  return i < 0 ? null : [`${curve.label}: ${bytes(curve.values[i])}`, [["at", duration(timeOf(x))]]];
}

// --- the tip beside the pointer ----------------------------------------------------------------------------------------
function described(thing) {
  if (thing.op === undefined) return [trace.names[thing.lane.waits.name[thing.wait]], describeWait(thing.lane.waits, thing.wait)];
  const facts = describe(thing.op);
  if (thing.more) facts.push(["", `and ${thing.more} more on this pixel: zoom in`]);
  return [`${trace.names[ops.name[thing.op]]} (op ${ops.number[thing.op]})`, facts];
}

function hover(x, y) {
  const thing = at(x, y), text = thing ? described(thing) : memoryAt(x, y);
  canvas.style.cursor = thing ? "pointer" : "grab";
  tip.hidden = !text;
  if (!text) return;
  tip.replaceChildren(heading(text[0]), pairs(text[1]));
  const left = Math.min(x + 14, width - tip.offsetWidth - 4);
  tip.style.left = `${Math.max(0, left)}px`, tip.style.top = `${y + 18}px`;
}

function select(op) {
  selected = op;
  showDetails(op);
  redraw();
}

// --- mouse and touch -----------------------------------------------------------------------------------------------------
const fingers = new Map();  // by number of a pointer: where it is, and where it came down
const place = (event) => {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};
const apart = () => {
  const [a, b] = [...fingers.values()];
  return { length: Math.max(10, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2 };
};

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, { ...place(event), moved: 0 });
});
canvas.addEventListener("pointermove", (event) => {
  const now = place(event), finger = fingers.get(event.pointerId);
  if (!finger) return hover(now.x, now.y);
  const before = fingers.size === 2 ? apart() : null, dx = now.x - finger.x, dy = now.y - finger.y;
  Object.assign(finger, now, { moved: finger.moved + Math.abs(dx) + Math.abs(dy) });
  if (before) {
    zoom(before.length / apart().length, before.middle);
    return pan(before.middle - apart().middle);
  }
  pan(-dx);
  if (event.pointerType === "mouse") window.scrollBy(0, -dy);
});
function lift(event) {
  const finger = fingers.get(event.pointerId);
  fingers.delete(event.pointerId);
  if (event.type !== "pointerup" || !finger || finger.moved > 4) return;
  const thing = at(finger.x, finger.y);
  select(thing?.op ?? (thing ? thing.lane.waits.target[thing.wait] : -1));
}
canvas.addEventListener("pointerup", lift);
canvas.addEventListener("pointercancel", lift);
canvas.addEventListener("pointerleave", () => (tip.hidden = true));
canvas.addEventListener("dblclick", (event) => zoom(0.4, place(event).x));
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : 1;  // some browsers count lines
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return pan((event.deltaX || event.deltaY) * unit);
  zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit * 0.002))), place(event).x);
}, { passive: false });

// --- keys ------------------------------------------------------------------------------------------------------------------
// The next op, or the one before, that the filter means, in the order of issue.
function step(by) {
  for (let op = selected < 0 && by < 0 ? ops.count - 1 : selected + by; op >= 0 && op < ops.count; op += by)
    if (first[op] && matches(op)) return select(op), reveal(op);
}

const keys = {
  ArrowLeft: () => pan(-80), ArrowRight: () => pan(80), ArrowUp: () => zoom(0.7), ArrowDown: () => zoom(1 / 0.7),
  "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), "0": fit, Home: fit,
  n: () => step(1), p: () => step(-1), z: () => selected >= 0 && reveal(selected), "/": () => filter.focus(),
  Escape: () => (select(-1), (tip.hidden = true)),
};
canvas.addEventListener("keydown", (event) => {
  const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

for (const [id, act] of [["in", () => zoom(0.7)], ["out", () => zoom(1 / 0.7)], ["fit", fit]]) document.getElementById(id).addEventListener("click", act);
