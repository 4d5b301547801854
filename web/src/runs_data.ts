// Runs: filters over rows that are only in the page, and what a fit says of each. Pure.
import type { Spec } from './chart_spec';
import { percent, plain, timeUnit, type Row } from './format';
import { quantity } from './parse';
import type { Values } from './link';

export const pageSize = 25;

/** "n>=4, algorithm=cocoa" as its conditions. */
export function conditions(text: string): string[] {
  return text.split(',').map((piece) => piece.trim()).filter(Boolean);
}

/** The path of a page of stored runs. */
export function runsPath(values: Values): string {
  const query = new URLSearchParams();
  for (const condition of conditions(values.where ?? '')) query.append('where', condition);
  if (values.sort) query.set('sort', values.sort);
  if (values.after) query.set('after', values.after);
  query.set('limit', String(pageSize));
  return 'v1/runs?' + query.toString();
}

/** What the server says of runs that were sent. */
export interface Added {
  runs: number;
  traces: number;
  added: number;
}

export function keptLine({ runs, traces, added }: Added): string {
  const sent = runs + traces;
  const what = traces ? 'traces' : 'runs';
  if (added === sent) return `${added} ${what} are kept.`;
  return added ? `${added} ${what} are kept; ${sent - added} were there already.` : `All ${sent} ${what} were there already.`;
}

function compare(a: unknown, b: unknown): number {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isFinite(x) && Number.isFinite(y)) return x - y;
  return String(a ?? '').localeCompare(String(b ?? ''));
}

/** A condition as the server reads it: a column, one of = != < <= > >=, and a value. */
export function holds(row: Row, condition: string): boolean {
  const match = /^([^=!<>]+?)\s*(!=|<=|>=|=|<|>)\s*(.*)$/.exec(condition);
  if (!match) return true;
  const [, column = '', sign = '', wanted = ''] = match;
  const value = row[column];
  if (value === null || value === undefined) return sign === '!=';
  const apart = compare(value, typeof value === 'number' ? (quantity(wanted) ?? wanted) : wanted);
  if (sign === '=') return apart === 0;
  if (sign === '!=') return apart !== 0;
  if (sign.startsWith('<')) return sign === '<=' ? apart <= 0 : apart < 0;
  return sign === '>=' ? apart >= 0 : apart > 0;
}

export function filtered(rows: Row[], where: string, sort: string): Row[] {
  const wanted = conditions(where);
  const out = rows.filter((row) => wanted.every((condition) => holds(row, condition)));
  const column = sort.replace(/^-/, '');
  if (!column) return out;
  const way = sort.startsWith('-') ? -1 : 1;
  return [...out].sort((a, b) => way * compare(a[column], b[column]));
}

/** What a fit is asked about: the columns of a table of runs. */
export function fitRows(rows: Row[], stored: boolean): Row[] {
  if (!stored) return rows;
  const columns = ['n', 'batch', 'latency', 'bandwidth', 'size', 'seconds'];
  const told = columns.filter((column) => rows.every((row) => typeof row[column] === 'number'));
  return rows.map((row) => Object.fromEntries(told.map((column) => [column, row[column]])));
}

/** A fit wants a place to predict, where runs differ; any place that was run will do. */
export function fitTarget(rows: Row[]): Record<string, number> | undefined {
  const target: Record<string, number> = {};
  for (const name of ['batch', 'latency', 'bandwidth', 'size']) {
    const column = Object.keys(rows[0] ?? {}).find((key) => key.toLowerCase().replace(/\s*\(.*\)$/, '') === name);
    const values = column ? rows.map((row) => row[column]).filter((v): v is number => typeof v === 'number') : [];
    if (new Set(values).size > 1) target[name] = Math.max(...values);
  }
  if (!Object.keys(target).length) return undefined;
  return { n: 1, ...target };
}

export interface Residual {
  line: number;
  n: number;
  seconds: number;
  fitted_s: number;
  left_out_s: number | null;
  outlier: boolean;
}

export interface Fit {
  error: number | null;
  left_out_error: number | null;
  terms: { term: string; value: number }[];
  residuals: Residual[];
}

export function residualSpec(fit: Fit): Spec | null {
  const rows = fit.residuals.filter((r) => r.left_out_s !== null && r.seconds > 0).sort((a, b) => a.seconds - b.seconds);
  if (rows.length < 2) return null;
  const all = rows.flatMap((r) => [r.seconds, r.left_out_s as number]);
  const unit = timeUnit(Math.max(...all));
  const x = rows.map((r) => r.seconds / unit.size);
  const log = Math.max(...all) > 30 * Math.min(...all) && Math.min(...all) > 0;
  const off = fit.left_out_error === null ? '' : ` They are off by ${percent(fit.left_out_error)}.`;
  return {
    title: 'Predicted against measured',
    xLabel: 'measured, ' + unit.name,
    yLabel: 'predicted, ' + unit.name,
    x,
    xLog: log,
    yLog: log,
    xText: (v) => plain(v, 4),
    yText: (v) => plain(v, 4),
    lines: [
      { label: 'as measured', values: x, colour: 5, dashed: true },
      { label: 'predicted without the run', values: rows.map((r) => (r.left_out_s as number) / unit.size), colour: 1, points: true },
    ],
    marks: [],
    told: `Each run is predicted by a fit of the others.${off}`,
  };
}
