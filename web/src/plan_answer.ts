// The request and the answer of /v1/plan (docs/plan.md): the answer as sentences and charts. Pure functions.
import type { Line, Mark, Spec } from './chart_spec';
import { align } from './chart_spec';
import { count, factor, money, percent, plain, time, timeUnit, workers } from './format';
import type { Values } from './link';
import { given } from './request';
import type { Plan, PlanRequest, Point } from './types.gen';

/** The keys of the job that the sliders change. */
export const sliderFields = {
  batch: 'batch',
  bandwidth: 'cluster.fabric.bandwidth',
  latency: 'cluster.fabric.latency',
  price: 'cluster.price',
} as const;

const sliderUnits: Record<keyof typeof sliderFields, (value: string) => string> = {
  batch: (v) => v,
  bandwidth: (v) => v + ' Gbit/s',
  latency: (v) => v + ' us',
  price: (v) => '$' + v + '/h',
};

/** The request for the values of the view; sliders that have no effect on the job are left out. */
export function planRequest(values: Values, yaml: string, usable: (key: string) => boolean): PlanRequest {
  const request: PlanRequest = { job: yaml, ...given<PlanRequest>(values, ['goal', 'deadline', 'budget', 'certainty', 'max_n']) };
  const set: Values = {};
  for (const key of Object.keys(sliderFields) as (keyof typeof sliderFields)[]) {
    const value = values[key];
    if (value && usable(key)) set[sliderFields[key]] = sliderUnits[key](value);
  }
  if (values.on) request.on = values.on.split(',');
  if (Object.keys(set).length) request.set = set;
  return request;
}

function speedText(point: Point, reference: number): string {
  const than = reference === 1 ? 'one' : String(reference);
  return point.n === reference ? '' : `, ${factor(point.speedup)} as fast as ${than}`;
}

function pointText(point: Point, reference: number): string {
  const nodes = point.nodes !== point.n && point.nodes > 1 ? ` (${point.nodes} machines)` : '';
  return `${workers(point.n)}${nodes}: ${time(point.time_s)} an iteration${speedText(point, reference)}`;
}

/** The machines of a point: "10 × p4d.24xlarge (80 GPUs)", or "9 workers". */
function machinesText(plan: Plan, point: Point): string {
  if (!plan.machine || /[/]|\.(ya?ml|json)$/.test(plan.machine)) return workers(point.n);
  const inside = point.nodes === point.n ? '' : ` (${workers(point.n)})`;
  return `${point.nodes} × ${plan.machine}${inside}`;
}

/** What a point needs: time and money of the whole job; the rate with weak scaling; otherwise the time of an iteration. */
function needsText(plan: Plan, point: Point): string {
  const whole = plan.total_of === 'job';
  const parts: string[] = [];
  if (whole) parts.push(time(point.total_s));
  if (plan.scaling === 'weak' && plan.samples_per_s && point.n === plan.recommended?.n) parts.push(`${count(plan.samples_per_s)} samples/s`);
  if (!parts.length) parts.push(time(point.time_s) + ' an iteration' + speedText(point, plan.reference));
  if (whole && point.cost !== null) parts.push(money(point.cost));
  return parts.join(', ');
}

/** A recommendation that needs more than twice the machine-hours of the knee says so. */
function costlyText(plan: Plan): string {
  const knee = plan.knee;
  if (!knee || plan.goal !== 'time' || !(plan.knee_hours && plan.knee_hours > 2)) return '';
  const cost = plan.total_of === 'job' && knee.cost !== null ? ` and ${money(knee.cost)}` : '';
  return `; that is ${factor(plan.knee_hours)} the machine-hours of ${workers(knee.n)}, which take${knee.n === 1 ? 's' : ''} ${time(plan.total_of === 'job' ? knee.total_s : knee.time_s)}${cost}`;
}

/** The answer in one sentence. */
export function headline(plan: Plan): string {
  if (plan.status === 'no-speedup') return 'More workers do not help: one is the fastest.';
  const point = plan.recommended;
  if (point && plan.status === 'ok') return `Use ${machinesText(plan, point)}: ${needsText(plan, point)}${costlyText(plan)}.`;
  const what = plan.missed === 'memory' ? 'fits in memory' : 'meets the ' + (plan.missed ?? 'limits');
  const often = plan.nearest && plan.nearest.meets !== null ? ` with a probability of ${percent(plan.certainty)}` : '';
  return `No number of workers ${what}${often}.`;
}

export interface Fact {
  name: string;
  text: string;
}

const limits: Record<string, string> = {
  compute: 'computing',
  bandwidth: 'moving bytes between machines',
  latency: 'the latency of messages',
  communication: 'communication',
  memory: 'memory: a faster number of workers does not fit',
  batch: 'the batch: it has fewer samples than there would be workers',
  serial: 'computing that does not shrink with more workers',
};

/** With which probability a point meets deadline and budget; empty if there are none. */
function limitsText(plan: Plan, point: Point): string {
  return point.meets === null ? '' : `met with a probability of ${percent(point.meets)} (asked ${percent(plan.certainty)})`;
}

/** The interval of the recommended point, and the runs that would narrow it. */
function sureText(plan: Plan, point: Point): string {
  if (point.low_s === null || point.high_s === null) return '';
  const total = plan.total_of === 'job' ? point.total_s / point.time_s : 1;
  const half = (point.high_s - point.low_s) / 2 / point.time_s;
  const range = `${time(point.low_s * total)} to ${time(point.high_s * total)}${total === 1 ? ' an iteration' : ''} (${percent(plan.level)})`;
  const from = plan.sheet_kind ? `: the spread of published measurements of ${plan.sheet_kind}` : '';
  const runs = plan.advised_runs;
  const narrower = runs.n.length && runs.within !== null ? `. Runs with n = ${runs.n.join(', ')} would make it ±${percent(Math.max(runs.within, 0.01))}` : '';
  const near = plan.sure_near === null ? '' : `${percent(plan.sure_near)} sure to be within ${percent(plan.slack)} of the best; the exact best lies between ${plan.n_low} and ${plan.n_high}. The time: `;
  return `${near}about ±${percent(half)}, ${range}${from}${narrower}`;
}

function memoryText(point: Point): string {
  if (point.memory_bytes === null || point.memory_limit_bytes === null) return '';
  const gib = (bytes: number) => plain(bytes / 2 ** 30);
  return `${gib(point.memory_bytes)} of ${gib(point.memory_limit_bytes)} GiB a worker`;
}

export function planFacts(plan: Plan): Fact[] {
  const out: Fact[] = [];
  const add = (name: string, text: string) => out.push({ name, text });
  const best = plan.recommended;
  if (plan.machine) add('On', plan.machine);
  if (best) {
    const whole = plan.total_of === 'job';
    if (whole || plan.scaling === 'weak') add('Iteration', time(best.time_s) + speedText(best, plan.reference));
    const hours = `${plain(best.node_s / 3600)} node-hours` + (best.cost === null ? '' : ` for ${money(best.cost)}`);
    add(whole ? 'Whole job' : 'Cost', whole ? `${count(plan.iterations)} iterations, ${hours}` : `${hours} an iteration`);
    const [limit, memory, sure] = [limitsText(plan, best), memoryText(best), sureText(plan, best)];
    if (limit) add('Deadline and budget', limit);
    if (memory) add('Memory', memory);
    if (sure) add('How sure', sure);
  }
  const { cheapest, balanced, fastest } = plan.alternatives;
  const differ = (a: Point, b: Point) => a.n !== b.n || a.machine !== b.machine;
  if (cheapest && balanced && fastest && (differ(cheapest, balanced) || differ(balanced, fastest)))
    for (const [name, point] of [['Cheapest', cheapest], ['Balanced', balanced], ['Fastest', fastest]] as [string, Point][])
      add(name, `${machinesText({ ...plan, machine: point.machine ?? plan.machine }, point)}: ${time(point.total_s)}, ${money(point.cost)}`);
  if (best && plan.best && plan.best.n !== best.n)
    add('Optimum', `${workers(plan.best.n)}: ${time(plan.total_of === 'job' ? plan.best.total_s : plan.best.time_s)}, for ${factor(plan.best.node_s / best.node_s)} the machine-hours`);
  if (plan.nearest) {
    const over = plan.nearest_gap ? ` (${factor(plan.nearest_gap)} the limit)` : '';
    const limit = limitsText(plan, plan.nearest);
    add('Nearest', pointText(plan.nearest, plan.reference) + over + (limit && `, ${limit}`));
  }
  const share = plan.limit.share === null ? '' : `, ${percent(plan.limit.share)} of the time`;
  add('Limited by', (limits[plan.limit.kind] ?? plan.limit.kind) + share);
  if (best && plan.knee && plan.knee.n !== best.n) {
    const speed = `${workers(plan.knee.n)} reach ${percent(plan.knee.speedup / best.speedup)} of that speed`;
    const cost = plan.knee.cost !== null && best.cost ? ` at ${percent(plan.knee.cost / best.cost)} of the cost` : '';
    add('Knee', speed + cost);
  }
  if (best && plan.plateau.from !== null && plan.plateau.from !== plan.plateau.to)
    add('As good', `${plan.plateau.from} to ${plan.plateau.to} workers are within 5 % of the best`);
  if (plan.at_ceiling) add('Ceiling', 'this is the largest number of workers that was considered');
  for (const help of plan.help.filter((h) => h.gain >= 1.02))
    add('Would help', `${help.what.replace(/^2x/, 'twice the')}: ${workers(help.n)}, ${factor(help.gain)} the speed`);
  return out;
}

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

/** Whether the axis of workers is logarithmic: on a linear axis the best point would be too close to the left end. */
function isLong(plan: Plan): boolean {
  const last = plan.curve[plan.curve.length - 1]?.n ?? 1;
  return last > 8 * (plan.best?.n ?? last) || last > 256;
}

const whole = (value: number) => plain(value, 6);

function byWorkers(plan: Plan, more: Pick<Spec, 'title' | 'yLabel' | 'lines' | 'marks' | 'yText' | 'summary' | 'yLog'>): Spec {
  return { xLabel: 'workers', x: plan.curve.map((p) => p.n), xLog: isLong(plan), xText: whole, ...more };
}

export function speedupSpec(plan: Plan): Spec {
  const top = Math.max(...plan.curve.map((p) => p.speedup));
  const lines: Line[] = [{ label: 'speedup', values: plan.curve.map((p) => p.speedup), colour: 1 }];
  const ideal = plan.curve.map((p) => (p.n / plan.reference <= 1.15 * top ? p.n / plan.reference : null));
  lines.push({ label: 'ideal', values: ideal, colour: 5, dashed: true });
  const peak = plan.curve.find((p) => p.speedup === top);
  return byWorkers(plan, {
    title: 'Speedup',
    yLabel: 'times as fast as ' + (plan.reference === 1 ? 'one' : plan.reference),
    lines,
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
        { label: 'from', values: scaled('low_s'), colour: 5, dashed: true },
        { label: 'to', values: scaled('high_s'), colour: 5, dashed: true },
      ]
    : [];
  const times = plan.curve.map((p) => p.time_s);
  const steep = Math.max(...times) > 30 * Math.min(...times);
  return byWorkers(plan, {
    title: 'Time of an iteration',
    yLabel: 'time, ' + unit.name,
    lines: [
      { label: 'iteration', values: scaled('time_s'), colour: 1 },
      ...band,
      { label: 'computing', values: scaled('compute_s'), colour: 3, dashed: true },
      { label: 'communicating', values: scaled('communicate_s'), colour: 2, dashed: true },
    ],
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
    summary: `The cheapest is ${workers(least.n)}, ${money(least.cost)}.`,
  });
}

/** Time against cost: all points that fit in memory, and the Pareto front. */
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
  const ends = front.length === 1 ? `Only ${workers((front[0] as Point).n)} is on the front.` : `The front runs from ${workers((front[0] as Point).n)} to ${(front[front.length - 1] as Point).n}.`;
  return {
    title: 'Time against cost',
    xLabel: (plan.total_of === 'job' ? 'time of the whole job, ' : 'time of an iteration, ') + unit.name,
    yLabel: 'cost',
    x,
    xLog: span > 50,
    xText: whole,
    yText: money,
    lines: [
      { label: 'all that fit in memory', values: values[0] as (number | null)[], colour: 5, points: true },
      { label: 'Pareto front', values: values[1] as (number | null)[], colour: 1 },
    ],
    marks: marks(plan, (p) => p.cost, (p) => p.total_s / unit.size),
    summary: `No number of workers is both faster and cheaper than a point of the front. ${ends}`,
  };
}
