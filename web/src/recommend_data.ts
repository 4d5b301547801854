// The answer of /v1/recommend (docs/recommend.md), in a sentence and a chart. Pure.
import type { Spec } from './chart_spec';
import { money, plain, time, timeUnit, workers, type Row } from './format';
import type { Values } from './link';

interface Candidate {
  n: number;
  time_s: number | null;
  low_s: number | null;
  high_s: number | null;
  cost: number | null;
  row_count: number;
  feasible: boolean;
  failed: boolean;
  why: string | null;
}

export interface Recommendation {
  status: 'ok' | 'unreached' | 'unknown';
  provenance: 'rows' | 'fit' | 'model' | 'none';
  reason: string | null;
  best: Candidate | null;
  sure: number | null;
  missed: string | null;
  candidates: Candidate[];
  next: Record<string, number> | null;
  next_why: string | null;
  notes: string[];
}

export function recommendPath(values: Values): string {
  const query = new URLSearchParams();
  if (values.batch) query.set('batch', values.batch);
  if (values.latency) query.set('latency', values.latency + 'ms');
  if (values.price) query.set('price', '$' + values.price + '/h');
  for (const key of ['algorithm', 'machine', 'goal', 'deadline', 'budget', 'n']) if (values[key]) query.set(key, values[key]);
  return 'v1/recommend?' + query.toString();
}

/** Each run once. */
export function onceEach(rows: Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** Stored runs like what is asked for: of the same batch, the same latency, both, or neither. */
export function runsLike(values: Values, by: 'batch' | 'latency' | 'both' | 'none'): string {
  const query = new URLSearchParams({ limit: '30', sort: 'n' });
  if ((by === 'batch' || by === 'both') && values.batch) query.append('where', 'batch=' + values.batch);
  if ((by === 'latency' || by === 'both') && values.latency) query.append('where', 'latency=' + values.latency + 'ms');
  for (const key of ['algorithm', 'machine']) if (values[key]) query.append('where', `${key}=${values[key]}`);
  return 'v1/runs?' + query.toString();
}

export function recommendLine(r: Recommendation): string {
  const best = r.best;
  if (!best) return r.missed ? `Nothing meets the ${r.missed}.` : 'Cannot tell yet.';
  const interval = best.low_s === null ? '' : ` (${time(best.low_s)} to ${time(best.high_s)})`;
  return `Use ${workers(best.n)}: ${time(best.time_s)}${interval}` + (best.cost === null ? '.' : `, for ${money(best.cost)}.`);
}

export function recommendSpec(r: Recommendation): Spec | null {
  const known = r.candidates.filter((c) => c.time_s !== null).sort((a, b) => a.n - b.n);
  if (known.length < 2) return null;
  const unit = timeUnit(Math.max(...known.map((c) => c.high_s ?? (c.time_s as number))));
  const scaled = (value: number | null) => (value === null ? null : value / unit.size);
  const best = r.best;
  const lines: Spec['lines'] = [{ label: 'time', values: known.map((c) => scaled(c.time_s)), colour: 1 }];
  if (known.some((c) => c.low_s !== null))
    lines.push({ label: 'from', values: known.map((c) => scaled(c.low_s)), colour: 5, dashed: true }, { label: 'to', values: known.map((c) => scaled(c.high_s)), colour: 5, dashed: true });
  return {
    title: 'Time by workers',
    xLabel: 'workers',
    yLabel: 'time, ' + unit.name,
    x: known.map((c) => c.n),
    xText: (v) => (Number.isInteger(v) ? String(v) : ''),
    yText: (v) => plain(v, 4),
    lines,
    marks: best && best.time_s !== null ? [{ x: best.n, y: best.time_s / unit.size, label: `best ${best.n}`, colour: 2, under: true }] : [],
    told: best ? `Least with ${workers(best.n)}.` : 'Nothing is recommended.',
  };
}
