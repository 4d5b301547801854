// Traces of runs, and the request and the answer of /v1/advise (docs/reference/advise.md) as sentences and charts. Pure functions.
import { align, type Spec } from './chart_spec';
import { money, number, percent, plain, time, timeUnit, workers, type Row } from './format';
import type { Values } from './link';
import { parseTable } from './parse';
import { given, withUnit } from './request';
import type { Advise, AdviseRequest, Candidate } from './types.gen';

/** The request for the values of the view. Without traces the server uses those of its store. */
export function adviseRequest(values: Values, traces?: string): AdviseRequest {
  const request: AdviseRequest = given<AdviseRequest>(values, ['loss', 'within', 'budget', 'goal', 'm']);
  if (traces !== undefined) request.traces = traces;
  if (values.price) request.price = withUnit(values.price, '$', '/h');
  return request;
}

const loss = (value: number | null) => (value === null ? '–' : plain(value, 3));

/** The advice in one sentence. */
export function adviceLine(advice: Advise): string {
  const best = advice.candidates[0];
  if (!best) return 'The traces give no candidate.';
  const where = `${best.algorithm} on ${workers(best.n)}`;
  if (!advice.best) return `No candidate is likely to reach the goal. The nearest is ${where}.`;
  if (advice.loss === null) {
    const after = advice.within_s === null ? 'for ' + money(advice.budget) : 'after ' + time(advice.within_s);
    return `Use ${where}: a loss of ${loss(best.loss)} above the best ${after}.`;
  }
  const what = advice.goal === 'cost' ? `${money(best.cost)}, ${time(best.time_s)}` : time(best.time_s);
  return `Use ${where}: ${what} to a loss of ${loss(advice.loss)} above the best (${time(best.low_s)} to ${time(best.high_s)}).`;
}

export const whys: Record<string, string> = {
  best: 'best',
  iteration: 'longer iterations',
  iterations: 'more iterations',
  both: 'longer iterations, and more of them',
  price: 'costs more',
  never: 'does not reach the loss',
  loss: 'reaches a higher loss',
  limit: 'exceeds the limit',
};

export function adviceFacts(advice: Advise): { name: string; text: string }[] {
  const out: { name: string; text: string }[] = [];
  const best = advice.candidates[0];
  if (!best) return out;
  out.push({ name: 'Work', text: `${number(best.iterations)} iterations of ${time(best.iteration_s)} each` });
  if (advice.sure !== null)
    out.push({ name: 'Probability', text: `${percent(advice.sure_near)} sure to be within 10 % of the best; the right algorithm with ${percent(advice.sure_algorithm)}` });
  if (!best.measured) out.push({ name: 'Not measured', text: `no trace has ${workers(best.n)}; the values are predicted from the other traces` });
  for (const other of bestOfEach(advice.candidates).slice(1, 6)) {
    const value = advice.loss === null ? loss(other.loss) + ' above the best' : time(other.time_s);
    out.push({ name: 'Others', text: `${other.algorithm} on ${workers(other.n)}: ${value}` + (other.why ? `, ${whys[other.why] ?? other.why}` : '') });
  }
  out.push({ name: 'Would help', text: advice.next ? `a run of ${advice.next.algorithm} on ${workers(advice.next.n)}` : 'no further run is expected to change this' });
  return out;
}

/** The first candidate of each algorithm, in the order of the candidates. */
export function bestOfEach(candidates: Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter((c) => !seen.has(c.algorithm) && seen.add(c.algorithm));
}

export interface Trace {
  algorithm: string;
  m: number;
  iterations: number[];
  /** Seconds since the start of the run, one for each iteration. */
  seconds: number[];
  losses: number[];
}

const first = (row: Row, names: string[]): unknown => names.map((name) => row[name]).find((v) => v !== undefined && v !== null);

/** Traces of a table with the columns algorithm, m, iteration, seconds and a loss. Only the first seed of each trace is read. */
export function readTraces(text: string): Trace[] {
  const traces = new Map<string, Trace>();
  const seeds = new Map<string, unknown>();
  for (const row of parseTable(text)) {
    const algorithm = String(first(row, ['algorithm']) ?? '');
    const m = Number(first(row, ['m', 'n', 'workers']));
    const iteration = Number(first(row, ['iteration', 'i', 'epoch']));
    const value = Number(first(row, ['objective', 'loss', 'suboptimality']));
    if (!algorithm || ![m, iteration, value].every(Number.isFinite)) continue;
    const key = algorithm + ' ' + m;
    if (!seeds.has(key)) seeds.set(key, row.seed);
    if (seeds.get(key) !== row.seed) continue;
    const trace = traces.get(key) ?? { algorithm, m, iterations: [], seconds: [], losses: [] };
    if (iteration <= (trace.iterations[trace.iterations.length - 1] ?? -Infinity)) continue;
    const elapsed = first(row, ['elapsed_s', 'elapsed']);
    const before = trace.seconds[trace.seconds.length - 1] ?? 0;
    trace.iterations.push(iteration);
    trace.seconds.push(elapsed !== undefined ? Number(elapsed) : before + (Number(row.seconds) || 0));
    trace.losses.push(value);
    traces.set(key, trace);
  }
  return [...traces.values()];
}

/** For each algorithm the trace with its best number of workers, or with the nearest number that was measured. */
export function chosenTraces(traces: Trace[], advice: Advise): Trace[] {
  return bestOfEach(advice.candidates).flatMap((c) => {
    const own = traces.filter((t) => t.algorithm === c.algorithm);
    const apart = (t: Trace) => Math.abs(Math.log(t.m / c.n));
    return own.length ? [own.reduce((a, b) => (apart(b) < apart(a) ? b : a))] : [];
  });
}

/** Colours of the algorithms. Grey is left out, because it is the colour of the requested loss. */
const colours = [1, 2, 3, 4, 5, 7];

export function convergenceSpec(traces: Trace[], advice: Advise, byIterations: boolean): Spec | null {
  const chosen = chosenTraces(traces, advice).slice(0, 6);
  const best = advice.best_loss ?? 0;
  if (!chosen.length) return null;
  const unit = timeUnit(Math.max(...chosen.map((t) => t.seconds[t.seconds.length - 1] ?? 0)));
  const { x, values } = align(
    chosen.map((t) => ({
      x: byIterations ? t.iterations : t.seconds.map((s) => s / unit.size),
      y: t.losses.map((l) => (l - best > 0 ? l - best : null)),
    })),
  );
  const goal = advice.loss;
  const lines: Spec['lines'] = chosen.map((t, i) => ({ label: `${t.algorithm} on ${t.m}`, values: values[i] as (number | null)[], colour: colours[i] as number }));
  if (goal !== null) lines.push({ label: 'requested loss', values: x.map(() => goal), colour: 6, dashed: true });
  return {
    title: 'Convergence',
    xLabel: byIterations ? 'iterations' : 'time, ' + unit.name,
    yLabel: 'loss above the best',
    x,
    xLog: (x[x.length - 1] as number) / (x.find((v) => v > 0) as number) > 50 && (x[0] as number) > 0,
    yLog: true,
    xText: (v) => plain(v, 4),
    yText: (v) => plain(v, 3),
    lines,
    marks: [],
    summary: `Measured traces, for each algorithm with its best number of workers: ${chosen.map((t) => `${t.algorithm} on ${t.m}`).join(', ')}.`,
  };
}

/** The time (or, without a requested loss, the loss) of each candidate by the number of workers. */
export function candidateSpec(advice: Advise): Spec | null {
  const best = advice.candidates[0];
  const byLoss = advice.loss !== null;
  const value = (c: Candidate) => (byLoss ? c.time_s : c.loss);
  const names = bestOfEach(advice.candidates).map((c) => c.algorithm).slice(0, 6);
  const of = (name: string) => advice.candidates.filter((c) => c.algorithm === name && value(c) !== null && (value(c) as number) > 0).sort((a, b) => a.n - b.n);
  const all = names.flatMap(of).map((c) => value(c) as number);
  if (!best || !all.length) return null;
  const unit = byLoss ? timeUnit(Math.max(...all)) : { size: 1, name: '' };
  const { x, values } = align(names.map((name) => ({ x: of(name).map((c) => c.n), y: of(name).map((c) => (value(c) as number) / unit.size) })));
  const top = value(best);
  return {
    title: byLoss ? 'Time to the loss' : 'Loss in that time',
    xLabel: 'workers',
    yLabel: byLoss ? 'time, ' + unit.name : 'loss above the best',
    x,
    xLog: true,
    yLog: Math.max(...all) / Math.min(...all) > 20,
    xText: (v) => plain(v, 6),
    yText: (v) => plain(v, 3),
    lines: names.map((label, i) => ({ label, values: values[i] as (number | null)[], colour: colours[i] as number })),
    marks: top === null ? [] : [{ x: best.n, y: top / unit.size, label: `${best.algorithm} on ${best.n}`, colour: 2, under: true }],
    summary: `${byLoss ? 'The least time' : 'The least loss'}: ${best.algorithm} on ${workers(best.n)}.`,
  };
}
