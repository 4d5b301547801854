// Runs: filters for rows that are only in the page, requests for stored runs and for a fit, and a chart of the fit. Pure functions.
import type { Spec } from './chart_spec';
import { percent, plain, timeUnit, type Row } from './format';
import type { Values } from './link';
import { quantity } from './parse';
import { given, withQuery } from './request';
import type { Added, Fit, FitRequest, RunsListRequest, RunsPage } from './types.gen';

export const pageSize = 25;

/** Splits "n>=4, algorithm=cocoa" into its conditions. */
export function conditions(text: string): string[] {
  return text.split(',').map((piece) => piece.trim()).filter(Boolean);
}

/** The path of a page of stored runs. */
export function runsPath(values: Values): string {
  const where = conditions(values.where ?? '');
  return withQuery<RunsListRequest>('v1/runs', { where, ...given<RunsListRequest>(values, ['sort', 'after']), limit: pageSize });
}

/**
 * Asks for a page of stored runs. The server answers with fewer runs than `limit` if finding them takes long; the page
 * is then filled with the next ones.
 */
export async function fullPage(path: string, get: (path: string) => Promise<RunsPage>): Promise<RunsPage> {
  const [route = '', query = ''] = path.split('?');
  const size = Number(new URLSearchParams(query).get('limit'));
  let { runs, next } = await get(path);
  while (next && runs.length < size) {
    const more = new URLSearchParams(query);
    more.set('after', next);
    more.set('limit', String(size - runs.length));
    const page = await get(`${route}?${more}`);
    runs = [...runs, ...page.runs];
    next = page.next;
  }
  return { runs, next };
}

/** The answer to runs or traces that were sent, in a sentence. */
export function addedLine({ runs, traces, added }: Added): string {
  const sent = runs + traces;
  const what = traces ? 'traces' : 'runs';
  if (added === sent) return `${added} ${what} were added.`;
  return added ? `${added} ${what} were added; ${sent - added} were already stored.` : `All ${sent} ${what} were already stored.`;
}

function compare(a: unknown, b: unknown): number {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isFinite(x) && Number.isFinite(y)) return x - y;
  return String(a ?? '').localeCompare(String(b ?? ''));
}

/** Whether a row meets a condition, with the rules of the server: a column, one of = != < <= > >=, and a value. */
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

/** The point to predict, needed when the runs differ in a quantity; any point that was measured is suitable. */
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

/** The request for a fit of the runs of a file. */
export function fitRequest(runs: Row[]): FitRequest {
  return { runs, target: fitTarget(runs) };
}

/** The request for a fit of all stored runs that match; the rows of the visible page say what has to be predicted. */
export function storedFitRequest(where: string, page: Row[]): FitRequest {
  const found = conditions(where);
  return { ...(found.length ? { where: found } : {}), target: fitTarget(page) };
}

/** Whether a text is a table of runs or traces: a header of names, of which one says what the rows measure; or JSON lines. */
export function isTable(text: string): boolean {
  if (/^\s*\{"/.test(text)) return /"(n|m|seconds|iteration|run)"/.test(text.split('\n')[0] ?? '');
  const header = text.split('\n').find((line) => line.trim() && !line.startsWith('#')) ?? '';
  const names = header.split(',').map((cell) => cell.trim().replace(/^"|"$/g, ''));
  return names.length > 1 && names.every((name) => /^[A-Za-z_][\w ./()-]*$/.test(name)) && names.some((name) => /^(n|m|workers|nodes|machines|seconds|time|total|iteration|i)\b/i.test(name));
}

/** A table of runs as an example of the format. */
export const sampleRuns = 'n,size,seconds\n1,0.1,22.1\n2,0.1,15.5\n4,0.1,13.6\n4,0.2,17.9\n8,0.2,16.4\n16,0.3,17.0\n8,0.4,21.2\n16,0.4,19.4\n';

export function residualSpec(fit: Fit): Spec | null {
  const rows = fit.residuals.filter((r) => r.left_out_s !== null && r.seconds > 0).sort((a, b) => a.seconds - b.seconds);
  if (rows.length < 2) return null;
  const all = rows.flatMap((r) => [r.seconds, r.left_out_s as number]);
  const unit = timeUnit(Math.max(...all));
  const x = rows.map((r) => r.seconds / unit.size);
  const log = Math.max(...all) > 30 * Math.min(...all) && Math.min(...all) > 0;
  const off = fit.left_out_error === null ? '' : ` The error is ${percent(fit.left_out_error)}.`;
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
      { label: 'equal to the measurement', values: x, colour: 6, dashed: true },
      { label: 'predicted without the run', values: rows.map((r) => (r.left_out_s as number) / unit.size), colour: 1, points: true },
    ],
    marks: [],
    summary: `Each run is predicted by a fit of the other runs.${off}`,
  };
}
