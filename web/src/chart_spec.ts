// What a chart shows, independent of how it is drawn; and scales and ticks for drawing it as SVG.

export interface Line {
  label: string;
  values: (number | null)[];
  /** Number of the colour, 1 to 6. */
  colour: number;
  dashed?: boolean;
  /** Draw points without a line between them. */
  points?: boolean;
}

export interface Mark {
  x: number;
  y: number;
  label: string;
  colour: number;
  /** Write the label under the point, so that labels of neighbouring points do not overlap. */
  under?: boolean;
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
  xText: (value: number) => string;
  yText: (value: number) => string;
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
