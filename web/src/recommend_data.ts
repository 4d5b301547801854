// The request and the answer of /v1/recommend (docs/reference/recommend.md): the answer as a sentence and a chart. Pure functions.
import type { Spec } from './chart_spec';
import { money, plain, time, timeUnit, workers, type Row } from './format';
import type { Values } from './link';
import { given, withQuery, withUnit } from './request';
import type { Recommend, RecommendRequest, RunsListRequest } from './types.gen';

/** The path of the request for the values of the view. */
export function recommendPath(values: Values): string {
  const request: RecommendRequest = given<RecommendRequest>(values, ['batch', 'algorithm', 'machine', 'goal', 'deadline', 'budget', 'certainty', 'n']);
  if (values.latency) request.latency = withUnit(values.latency, '', 'ms');
  if (values.price) request.price = withUnit(values.price, '$', '/h');
  return withQuery('v1/recommend', request);
}

/** The runs without repetitions of the same id. */
export function onceEach(rows: Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** The path of stored runs with the same batch, the same latency, both, or any of them. */
export function runsLike(values: Values, by: 'batch' | 'latency' | 'both' | 'none'): string {
  const where: string[] = [];
  if ((by === 'batch' || by === 'both') && values.batch) where.push('batch=' + values.batch);
  if ((by === 'latency' || by === 'both') && values.latency) where.push('latency=' + withUnit(values.latency, '', 'ms'));
  for (const key of ['algorithm', 'machine']) if (values[key]) where.push(`${key}=${values[key]}`);
  return withQuery<RunsListRequest>('v1/runs', { limit: 30, sort: 'n', where });
}

/** The recommendation in one sentence. */
export function recommendLine(r: Recommend): string {
  const best = r.recommended;
  if (!best) return r.missed ? `No number of workers meets the ${r.missed}.` : 'There are not enough runs for a recommendation.';
  const interval = best.low_s === null ? '' : ` (${time(best.low_s)} to ${time(best.high_s)})`;
  return `Use ${workers(best.n)}: ${time(best.time_s)}${interval}` + (best.cost === null ? '.' : `, for ${money(best.cost)}.`);
}

export function recommendSpec(r: Recommend): Spec | null {
  const known = r.candidates.filter((c) => c.time_s !== null).sort((a, b) => a.n - b.n);
  if (known.length < 2) return null;
  const unit = timeUnit(Math.max(...known.map((c) => c.high_s ?? (c.time_s as number))));
  const scaled = (value: number | null) => (value === null ? null : value / unit.size);
  const used = r.recommended;
  const lines: Spec['lines'] = [{ label: 'time', values: known.map((c) => scaled(c.time_s)), colour: 1 }];
  if (known.some((c) => c.low_s !== null))
    lines.push({ label: 'from', values: known.map((c) => scaled(c.low_s)), colour: 1, edge: true }, { label: 'to', values: known.map((c) => scaled(c.high_s)), colour: 1, edge: true });
  return {
    title: 'Time by workers',
    xLabel: 'workers',
    yLabel: 'time, ' + unit.name,
    x: known.map((c) => c.n),
    xText: (v) => (Number.isInteger(v) ? String(v) : ''),
    yText: (v) => plain(v, 4),
    lines,
    band: lines.length > 1 ? [1, 2] : undefined,
    marks: used && used.time_s !== null ? [{ x: used.n, y: used.time_s / unit.size, label: `recommended ${used.n}`, colour: 2, under: true }] : [],
    summary: r.best ? `The time is least with ${workers(r.best.n)}.` : 'There is no recommendation.',
  };
}
