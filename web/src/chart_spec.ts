// What a chart shows, independent of how it is drawn; and scales and ticks for drawing it as SVG.

export interface Line {
  label: string;
  values: (number | null)[];
  /** Number of the colour, 1 to 6. */
  colour: number;
  dashed?: boolean;
  /** Draw points without a line between them. */
  points?: boolean;
  /** An edge of a band: it has no line and no entry in the legend. */
  edge?: boolean;
}

export interface Mark {
  x: number;
  y: number;
  label: string;
  colour: number;
  /** Prefer to write the label under the point. */
  under?: boolean;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

export interface Label {
  /** Left end and baseline of the text. */
  x: number;
  y: number;
}

/** Whether the straight line between two points passes through the box (Liang and Barsky). */
function isCrossed(box: Box, from: Label, to: Label): boolean {
  let [low, high] = [0, 1];
  for (const [start, way, near, far] of [[from.x, to.x - from.x, box.x, box.x + box.width], [from.y, to.y - from.y, box.y, box.y + box.height]] as const) {
    if (way === 0 && (start < near || start > far)) return false;
    const ends = way === 0 ? [0, 1] : [(near - start) / way, (far - start) / way];
    low = Math.max(low, Math.min(...ends));
    high = Math.min(high, Math.max(...ends));
  }
  return low <= high;
}

/** The visible lines of a chart as points on the screen. */
export function paths(spec: Spec, atX: (v: number) => number, atY: (v: number) => number): Label[][] {
  return spec.lines
    .filter((line) => !line.edge && !line.points)
    .map((line) => line.values.flatMap((value, i) => (value === null || !Number.isFinite(value) ? [] : [{ x: atX(spec.x[i] as number), y: atY(value) }])));
}

/**
 * Where to write the labels of marks: beside, above or below their points, at the first place that
 * is inside the frame and covers neither another label nor a point nor, if possible, a line.
 * `size` is the height of the text.
 */
export function placeLabels(points: { x: number; y: number; width: number; under?: boolean }[], frame: Box, size: number, lines: Label[][] = []): Label[] {
  const dot = size / 2;
  const taken: Box[] = points.map((p) => ({ x: p.x - dot, y: p.y - dot, width: 2 * dot, height: 2 * dot }));
  return points.map((p) => {
    const near = [-0.9, 1.6, -2.1, 2.8, -3.3, 4].map((k) => k * size);
    const rows = p.under ? [near[1], near[0], near[3], near[2], near[5], near[4]] : near;
    const spots = rows.flatMap((dy) => [p.x + dot + 2, p.x - p.width - dot - 2, p.x - p.width / 2].map((x) => ({ x, y: p.y + (dy as number) })));
    const box = (spot: Label): Box => ({ x: spot.x, y: spot.y - size, width: p.width, height: 1.2 * size });
    const isInside = (b: Box) => b.x >= frame.x && b.x + b.width <= frame.x + frame.width && b.y >= frame.y && b.y + b.height <= frame.y + frame.height;
    const free = spots.filter((spot) => isInside(box(spot)) && !taken.some((other) => overlaps(box(spot), other)));
    const clear = free.find((spot) => !lines.some((line) => line.some((to, i) => i > 0 && isCrossed(box(spot), line[i - 1] as Label, to))));
    const spot = clear ?? free[0] ?? spots.find((s) => isInside(box(s))) ?? (spots[0] as Label);
    taken.push(box(spot));
    return spot;
  });
}

export interface Spec {
  title: string;
  xLabel: string;
  yLabel: string;
  x: number[];
  lines: Line[];
  marks: Mark[];
  xLog?: boolean;
  yLog?: boolean;
  /** Numbers of the two lines that a filled band lies between. */
  band?: [number, number];
  xText: (value: number) => string;
  yText: (value: number) => string;
  /** The text at a tick of the y axis, if it is shorter than yText. */
  yTick?: (value: number) => string;
  /** What the chart shows, in a sentence; also for screen readers. */
  summary: string;
}

export interface Curve {
  x: number[];
  y: (number | null)[];
}

/** Puts curves with different x values on one x axis; missing values are null. */
export function align(curves: Curve[]): { x: number[]; values: (number | null)[][] } {
  const x = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const place = new Map(x.map((value, i) => [value, i]));
  const values = curves.map((curve) => {
    const out: (number | null)[] = x.map(() => null);
    curve.x.forEach((value, i) => (out[place.get(value) as number] = curve.y[i] ?? null));
    return out;
  });
  return { x, values };
}

/** Round numbers from low to high; `about` is the wanted count. */
export function ticks(low: number, high: number, about: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10);
  const out: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12); k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

/** Powers of ten, or of two when the range is small. */
export function logTicks(low: number, high: number): number[] {
  const base = high / low >= 1000 ? 10 : 2;
  const out: number[] = [];
  const last = Math.log(high) / Math.log(base) + 1e-9;
  for (let k = Math.ceil(Math.log(low) / Math.log(base) - 1e-9); k <= last; k++) out.push(Number((base ** k).toPrecision(12)));
  return out;
}

export interface Scale {
  low: number;
  high: number;
  log: boolean;
  ticks: number[];
}

/** A scale for these values. With fromZero a linear scale starts at 0 and has a margin of 5 % at the top. */
export function scale(values: (number | null)[], log: boolean, about: number, fromZero: boolean): Scale {
  const known = values.filter((v): v is number => v !== null && Number.isFinite(v) && (!log || v > 0));
  let low = known.length ? known.reduce((a, b) => Math.min(a, b)) : log ? 1 : 0;
  let high = known.length ? known.reduce((a, b) => Math.max(a, b)) : 10;
  if (!log && fromZero && low > 0) low = 0;
  if (low === high) high = low === 0 ? 1 : log ? low * 10 : low + Math.abs(low);
  if (!log && fromZero) high += (high - low) * 0.05;
  return { low, high, log, ticks: log ? logTicks(low, high) : ticks(low, high, about) };
}

/** The position of a value on the scale, from 0 to 1. */
export function place(s: Scale, value: number): number {
  if (!s.log) return (value - s.low) / (s.high - s.low);
  return Math.log(Math.max(value, s.low) / s.low) / Math.log(s.high / s.low);
}
