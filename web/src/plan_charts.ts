// The charts of a plan. Pure functions.
import type { Line, Mark, Spec } from './chart_spec';
import { align } from './chart_spec';
import { factor, money, moneyTick, plain, time, timeUnit, workers } from './format';
import type { Plan, Point, Rank } from './types.gen';

function marks(plan: Plan, y: (p: Point) => number | null, x: (p: Point) => number = (p) => p.n): Mark[] {
  const out: Mark[] = [];
  const add = (point: Point | null, label: string, colour: number, under: boolean) => {
    const value = point && y(point);
    if (point && value !== null) out.push({ x: x(point), y: value, label, colour, under });
  };
  const used = plan.recommended;
  if (plan.knee && plan.knee.n !== used?.n) add(plan.knee, `knee ${plan.knee.n}`, 3, true);
  if (plan.best && plan.best.n !== used?.n) add(plan.best, `optimum ${plan.best.n}`, 4, true);
  if (used) add(used, `recommended ${used.n}`, 2, false);
  return out;
}

/** Whether the axis of workers is logarithmic: the numbers of workers span a factor of ten. */
function isLong(plan: Plan): boolean {
  const [first, last] = [plan.curve[0]?.n ?? 1, plan.curve[plan.curve.length - 1]?.n ?? 1];
  return last >= 10 * first;
}

const whole = (value: number) => plain(value, 6);

function byWorkers(plan: Plan, more: Pick<Spec, 'title' | 'yLabel' | 'lines' | 'marks' | 'yText' | 'summary' | 'yLog' | 'yTick' | 'band'>): Spec {
  return { xLabel: 'workers', x: plan.curve.map((p) => p.n), xLog: isLong(plan), xText: whole, ...more };
}

export function speedupSpec(plan: Plan): Spec {
  const top = Math.max(...plan.curve.map((p) => p.speedup));
  const lines: Line[] = [{ label: 'speedup', values: plan.curve.map((p) => (p.fits ? p.speedup : null)), colour: 1 }];
  const ideal = plan.curve.map((p) => (isLong(plan) || p.n / plan.reference <= 1.15 * top ? p.n / plan.reference : null));
  lines.push({ label: 'ideal', values: ideal, colour: 6, dashed: true });
  if (plan.curve.some((p) => !p.fits)) lines.push({ label: 'does not fit', values: plan.curve.map((p) => (p.fits ? null : p.speedup)), colour: 6, points: true });
  const peak = plan.curve.find((p) => p.speedup === top);
  return byWorkers(plan, {
    title: 'Speedup',
    yLabel: 'times as fast as ' + (plan.reference === 1 ? 'one' : plan.reference),
    lines,
    yLog: isLong(plan),
    marks: marks(plan, (p) => p.speedup),
    yText: whole,
    summary: `The speedup is highest with ${workers(peak?.n ?? 1)}, ${factor(top)}.` + (plan.knee ? ` The knee is at ${plan.knee.n}.` : ''),
  });
}

export function timeSpec(plan: Plan): Spec {
  const unit = timeUnit(Math.max(...plan.curve.map((p) => p.time_s)));
  const scaled = (key: 'time_s' | 'low_s' | 'high_s' | 'compute_s' | 'communicate_s') => plan.curve.map((p) => ((p[key] ?? 0) > 0 ? (p[key] as number) / unit.size : null));
  const band: Line[] = plan.curve.some((p) => p.low_s !== null)
    ? [
        { label: 'from', values: scaled('low_s'), colour: 1, edge: true },
        { label: 'to', values: scaled('high_s'), colour: 1, edge: true },
      ]
    : [];
  const times = plan.curve.map((p) => p.time_s);
  const steep = isLong(plan) && Math.max(...times) > 4 * Math.min(...times);
  return byWorkers(plan, {
    title: 'Time of an iteration',
    yLabel: 'time, ' + unit.name,
    lines: [
      { label: 'iteration', values: scaled('time_s'), colour: 1 },
      ...band,
      { label: 'computing', values: scaled('compute_s'), colour: 3, dashed: true },
      { label: 'communicating', values: scaled('communicate_s'), colour: 2, dashed: true },
    ],
    band: band.length ? [1, 2] : undefined,
    yLog: steep,
    marks: marks(plan, (p) => p.time_s / unit.size),
    yText: whole,
    summary: plan.recommended ? `With ${workers(plan.recommended.n)}: ${time(plan.recommended.compute_s)} computing, ${time(plan.recommended.communicate_s)} communicating.` : '',
  });
}

export function costSpec(plan: Plan): Spec | null {
  const known = plan.curve.filter((p) => p.cost !== null && p.fits);
  if (!known.length) return null;
  const least = known.reduce((a, b) => ((b.cost as number) < (a.cost as number) ? b : a));
  const of = plan.total_of === 'job' ? 'of the whole job' : 'of an iteration';
  return byWorkers(plan, {
    title: 'Cost ' + of,
    yLabel: 'cost',
    lines: [{ label: 'cost', values: plan.curve.map((p) => p.cost), colour: 1 }],
    marks: marks(plan, (p) => p.cost),
    yText: money,
    yTick: moneyTick,
    summary: `The cheapest is ${workers(least.n)}, ${money(least.cost)}.`,
  });
}

/** Time against cost: all points that fit, and the Pareto front. */
export function paretoSpec(plan: Plan): Spec | null {
  const fits = plan.curve.filter((p) => p.fits && p.cost !== null);
  const front = plan.pareto.filter((p) => p.cost !== null);
  if (!front.length || fits.length < 2) return null;
  const unit = timeUnit(Math.max(...fits.map((p) => p.total_s)));
  const sorted = (points: Point[]) => [...points].sort((a, b) => a.total_s - b.total_s);
  const { x, values } = align(
    [sorted(fits), sorted(front)].map((points) => ({ x: points.map((p) => p.total_s / unit.size), y: points.map((p) => p.cost) })),
  );
  const span = (x[x.length - 1] as number) / (x[0] as number);
  const costs = fits.map((p) => p.cost as number);
  const ends = front.length === 1 ? `Only ${workers((front[0] as Point).n)} is on the front.` : `The front runs from ${workers((front[0] as Point).n)} to ${(front[front.length - 1] as Point).n}.`;
  return {
    title: 'Time against cost',
    xLabel: (plan.total_of === 'job' ? 'time of the whole job, ' : 'time of an iteration, ') + unit.name,
    yLabel: 'cost',
    x,
    xLog: span > 10,
    yLog: costs.length > 1 && Math.max(...costs) > 10 * Math.min(...costs) && Math.min(...costs) > 0,
    xText: whole,
    yText: money,
    yTick: moneyTick,
    lines: [
      { label: 'all that fit', values: values[0] as (number | null)[], colour: 6, points: true },
      { label: 'Pareto front', values: values[1] as (number | null)[], colour: 1 },
    ],
    marks: marks(plan, (p) => p.cost, (p) => p.total_s / unit.size),
    summary: `No number of workers is both faster and cheaper than a point of the front. ${ends}`,
  };
}

/** Time against cost, with one point for each machine. */
export function machineSpec(ranking: Rank[], whole: boolean): Spec | null {
  const known = ranking.filter((r) => r.feasible && r.cost !== null && r.total_s !== null && r.machine !== null);
  if (known.length < 2) return null;
  const unit = timeUnit(Math.max(...known.map((r) => r.total_s as number)));
  const at = (r: Rank) => (r.total_s as number) / unit.size;
  const sorted = [...known].sort((a, b) => at(a) - at(b));
  const span = at(sorted[sorted.length - 1] as Rank) / at(sorted[0] as Rank);
  const cheapest = known.reduce((a, b) => ((b.cost as number) < (a.cost as number) ? b : a));
  const fastest = sorted[0] as Rank;
  const costs = known.map((r) => r.cost as number);
  return {
    title: 'Machines: time against cost',
    xLabel: (whole ? 'time of the whole job, ' : 'time of an iteration, ') + unit.name,
    yLabel: 'cost',
    x: sorted.map(at),
    xLog: span > 10,
    yLog: Math.max(...costs) > 10 * Math.min(...costs),
    xText: (v) => plain(v, 3),
    yText: money,
    yTick: moneyTick,
    lines: [{ label: 'the best number of each machine', values: sorted.map((r) => r.cost), colour: 1, points: true }],
    marks: sorted.map((r) => ({ x: at(r), y: r.cost as number, label: `${r.machine} × ${plain(r.n ?? 0, 6)}`, colour: r === fastest ? 2 : r === cheapest ? 3 : 1 })),
    summary: `Each machine with its best number of workers: ${cheapest === fastest ? `${fastest.machine} is both the fastest and the cheapest` : `${fastest.machine} is the fastest, ${cheapest.machine} the cheapest`}.`,
  };
}
