// The request and the answer of /v1/plan (docs/reference/plan.md): the answer as sentences. Pure functions.
import { count, factor, money, percent, plain, time, workers } from './format';
import type { Values } from './link';
import { hasLayouts, jobText, layoutFields, networkName, usualWork, workOf } from './model';
import { facts } from './parse';
import { given } from './request';
import type { CatalogEntry, Plan, PlanRequest, Point } from './types.gen';

/** The keys of the job that the sliders change. */
export const sliderFields = {
  bandwidth: 'cluster.fabric.bandwidth',
  latency: 'cluster.fabric.latency',
  price: 'cluster.price',
} as const;

const sliderUnits: Record<keyof typeof sliderFields, (value: string) => string> = {
  bandwidth: (v) => v + ' Gbit/s',
  latency: (v) => v + ' us',
  price: (v) => '$' + v + '/h',
};

/** Whether a quantity of the cluster has an effect on a job: its formulas may not use it. */
export function isUsed(key: string, values: Values): boolean {
  const text = jobText(values);
  return key === 'price' || networkName(values) !== undefined || facts(text).counted || new RegExp('\\b' + key + '\\b').test(text);
}

/** The request for the values of the view; sliders that have no effect on the job are left out. */
export function planRequestOf(values: Values, networks: CatalogEntry[]): PlanRequest {
  const request: PlanRequest = { job: jobText(values), ...given<PlanRequest>(values, ['goal', 'deadline', 'budget', 'certainty', 'max_n', 'batch', 'sequence', 'tokens', 'epochs', 'iterations']) };
  const set: Values = {};
  for (const key of Object.keys(sliderFields) as (keyof typeof sliderFields)[]) {
    const value = values[key];
    if (value && isUsed(key, values)) set[sliderFields[key]] = sliderUnits[key](value);
  }
  for (const [key, field] of Object.entries({ precision: 'precision', nodes: 'cluster.max_nodes', ...layoutFields })) if (values[key]) set[field] = values[key] as string;
  if (networkName(values)) {
    const { unit, amount } = workOf(values, hasLayouts(values, networks));
    if (!amount) request[unit] = usualWork[unit];
    request.on = ['p5.48xlarge'];
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

/** The machines of a point: "10 × p4d.24xlarge (80 workers)", or "9 workers". */
export function machinesText(plan: Plan, point: Point): string {
  const machine = point.machine ?? plan.machine;
  if (!machine || /[/]|\.(ya?ml|json)$/.test(machine)) return workers(point.n);
  const inside = point.nodes === point.n ? '' : ` (${workers(point.n)})`;
  return `${point.nodes} × ${machine}${inside}`;
}

/** The answer with the points of its own machine only: the curve of a network with layouts has those of all machines. */
export function ofOneMachine(plan: Plan): Plan {
  const isOwn = (point: Point) => !point.machine || !plan.machine || point.machine === plan.machine;
  const seen = new Set<number>();
  const curve = plan.curve.filter((point) => isOwn(point) && !seen.has(point.n) && seen.add(point.n)).sort((a, b) => a.n - b.n);
  return { ...plan, curve, pareto: plan.pareto.filter(isOwn) };
}

export interface Choice {
  name: string;
  point: Point;
  /** Whether it is the recommended point. */
  recommended: boolean;
}

/** The cheapest, the balanced and the fastest choice; equal ones are one. Without a price, the recommended point alone. */
export function choices(plan: Plan): Choice[] {
  const { cheapest, balanced, fastest } = plan.alternatives;
  const used = plan.status === 'unreached' ? null : plan.recommended;
  const isSame = (a: Point, b: Point | null) => b !== null && a.n === b.n && (a.machine ?? plan.machine) === (b.machine ?? plan.machine);
  const out: Choice[] = [];
  for (const [name, point] of [['Cheapest', cheapest], ['Balanced', balanced], ['Fastest', fastest]] as [string, Point | null][]) {
    const last = out[out.length - 1];
    if (!point) continue;
    if (last && isSame(point, last.point)) last.name += ' and ' + name.toLowerCase();
    else out.push({ name, point, recommended: isSame(point, used) });
  }
  if (used && !out.some((choice) => choice.recommended)) out.push({ name: out.length ? 'Within the limits' : 'Recommended', point: used, recommended: true });
  return out;
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

export interface ScenarioRow {
  what: string;
  kept: string;
  now: string;
  change: string;
}

function modelText(values: Values, plan: Plan): string {
  return networkName(values) ?? plan.job ?? 'a job of your own';
}

/** How a number changed: "1.50× as much", or "–" if one of them is not known. */
function changeText(before: number | null | undefined, after: number | null | undefined): string {
  if (!before || !after) return '–';
  return before === after ? 'the same' : factor(after / before);
}

/** Two scenarios as rows of a table: what was kept, and what is asked now. */
export function scenarioRows(keptValues: Values, kept: Plan, nowValues: Values, now: Plan): ScenarioRow[] {
  const [a, b] = [kept.recommended, now.recommended];
  const total = (plan: Plan) => (plan.recommended ? (plan.total_of === 'job' ? plan.recommended.total_s : plan.recommended.time_s) : null);
  const sure = (plan: Plan) => {
    const point = plan.recommended;
    if (!point || point.low_s === null || point.high_s === null) return '–';
    const scale = plan.total_of === 'job' ? point.total_s / point.time_s : 1;
    return `${time(point.low_s * scale)} to ${time(point.high_s * scale)}`;
  };
  const limit = (plan: Plan) => limits[plan.limit.kind] ?? plan.limit.kind;
  return [
    { what: 'Model', kept: modelText(keptValues, kept), now: modelText(nowValues, now), change: '' },
    { what: 'Rent', kept: a ? machinesText(kept, a) : 'no answer', now: b ? machinesText(now, b) : 'no answer', change: changeText(a?.nodes, b?.nodes) },
    { what: 'Time', kept: time(total(kept)), now: time(total(now)), change: changeText(total(kept), total(now)) },
    { what: 'Cost', kept: money(a?.cost), now: money(b?.cost), change: changeText(a?.cost, b?.cost) },
    { what: 'How sure', kept: sure(kept), now: sure(now), change: '' },
    { what: 'Limited by', kept: limit(kept), now: limit(now), change: '' },
  ];
}
