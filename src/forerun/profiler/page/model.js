// The trace as typed arrays, and searches in them. Times are nanoseconds since the first issue.
"use strict";

const trace = JSON.parse(document.getElementById("trace").textContent);

// Numbers from the differences between them.
function summed(differences) {
  const sums = new Float64Array(differences.length);
  for (let i = 0, sum = 0; i < sums.length; ++i) sums[i] = sum += differences[i];
  return sums;
}

// Stretches of time that do not overlap, in order.
function stretches({ start, length, ...more }) {
  const from = summed(start);
  return { start: from, end: from.map((t, i) => t + length[i]), ...more };
}

// The first place in a sorted array whose number is larger than `limit`.
function firstAfter(sorted, limit) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The stretch at a time, or the next one to it that is at most `reach` away; -1 if none is.
function nearest({ start, end }, time, reach) {
  const i = firstAfter(end, time);
  if (i < end.length && start[i] <= time) return i;
  const away = [time - (end[i - 1] ?? -Infinity), (start[i] ?? Infinity) - time];
  const [distance, which] = away[0] <= away[1] ? [away[0], i - 1] : [away[1], i];
  return distance <= reach ? which : -1;
}

const ops = { ...trace.ops, issued: summed(trace.ops.issued), number: summed(trace.ops.number) };
ops.count = ops.number.length;
const held = new Set(ops.held), over = new Set(ops.over);
const opOfNumber = new Map(Array.from(ops.number, (number, op) => [number, op]));

// Where ops ran: the lane and place of each op's first and last stretch.
const first = new Array(ops.count), last = new Array(ops.count);

const lanes = trace.lanes.map((lane) => {
  const made = { ...lane, spans: stretches(lane.spans), waits: stretches(lane.waits) };
  made.spans.op.forEach((op, i) => {
    const place = { lane: made, start: made.spans.start[i], end: made.spans.end[i] };
    if (!first[op] || place.start < first[op].start) first[op] = place;
    if (!last[op] || place.end > last[op].end) last[op] = place;
  });
  return made;
});

// What each front end issued, in order of time.
lanes.forEach((lane, n) => {
  const issued = [];
  for (let op = 0; op < ops.count; ++op) if (ops.lane[op] === n) issued.push(op);
  lane.issues = issued.sort((a, b) => ops.issued[a] - ops.issued[b]);
  lane.issueTimes = Float64Array.from(lane.issues, (op) => ops.issued[op]);
});

const curves = trace.memory.map((curve) => ({ ...curve, times: summed(curve.times), values: summed(curve.values) }));

// The waits for an op, and the ops that read its result.
const waitsFor = new Map(), readers = new Map();
for (const lane of lanes)
  lane.waits.target.forEach((op, i) => op >= 0 && waitsFor.set(op, [...(waitsFor.get(op) ?? []), { lane, i }]));
ops.inputs = ops.inputs.map((numbers) => numbers.map((n) => opOfNumber.get(n)).filter((op) => op !== undefined));
ops.inputs.forEach((inputs, op) => {
  for (const input of inputs) readers.has(input) ? readers.get(input).push(op) : readers.set(input, [op]);
});

// --- filter: ops that match the words in the box ---------------------------------------------------------------------
let words = "";
let found = { name: [], line: [] };  // by number of a name, or line: whether it is meant

function setFilter(text) {
  words = text.trim().toLowerCase();
  const named = (names) => names.map((name) => name.toLowerCase().includes(words));
  found = { name: named(trace.names), line: named(trace.lines) };
}
setFilter("");

const matches = (op) => found.name[ops.name[op]] || found.line[ops.line[op]];
const waitMatches = (waits, i) => found.name[waits.name[i]] || found.line[waits.line[i]];

function countMatches() {
  let count = 0;
  for (let op = 0; op < ops.count; ++op) count += matches(op) ? 1 : 0;
  return count;
}

// --- text ------------------------------------------------------------------------------------------------------------
const unitOf = (ns) => (ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"]);

// A duration with three digits that count.
function duration(ns) {
  const [size, unit] = unitOf(ns);
  const number = ns / size;
  return `${number.toFixed(unit === "ns" || number >= 100 ? 0 : number >= 10 ? 1 : 2)} ${unit}`;
}

function bytes(n) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < 4) n /= 1024, ++unit;
  return `${unit ? n.toFixed(n >= 100 ? 0 : 1) : n} ${units[unit]}`;
}

// The facts about an op, as pairs of a word and its meaning.
function describe(op) {
  const ran = first[op], ended = last[op];
  const facts = [["line", trace.places[ops.line[op]]]];
  if (ops.shape[op] >= 0) facts.push(["shapes", trace.shapes[ops.shape[op]]]);
  facts.push(["issued", `at ${duration(ops.issued[op])}`]);
  if (ran) {
    facts.push(["ran", `${duration(ended.end - ran.start)}, from ${duration(ran.start)} to ${duration(ended.end)}`]);
    const rank = ran.lane.rank === null ? "" : `, rank ${ran.lane.rank}`;
    facts.push(["on", ran.lane.label + (ran.lane.device ? `, ${ran.lane.device}` : "") + rank]);
    facts.push(["queued", `${duration(Math.max(0, ran.start - ops.issued[op]))} after its issue`]);
  }
  if (over.has(op)) facts.push(["held", "back for a while: memory was at its budget"]);
  if (held.has(op)) facts.push(["held", "back until its turn: memory would have risen above the peak in order"]);
  if (ops.bytes[op]) facts.push(["memory", bytes(ops.bytes[op])]);
  if (ops.members[op] > 1) facts.push(["fused", `${ops.members[op]} ops ran as one`]);
  return facts;
}

function describeWait(waits, i) {
  const facts = [["line", trace.places[waits.line[i]]]];
  facts.push(["waited", `${duration(waits.end[i] - waits.start[i])}, from ${duration(waits.start[i])} to ${duration(waits.end[i])}`]);
  if (waits.target[i] >= 0) facts.push(["for", `${trace.names[ops.name[waits.target[i]]]} (op ${ops.number[waits.target[i]]})`]);
  return facts;
}
