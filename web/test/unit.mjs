// Tests of the pure functions of the page.
import './unit_views.mjs';
import assert from 'node:assert/strict';
import test from 'node:test';
import { align, logTicks, scale, ticks } from '../src/chart_spec.ts';
import { chartSvg } from '../src/chart_svg.ts';
import { bitRate, money, number, percent, plain, time, timeUnit, toCsv } from '../src/format.ts';
import { change, isCut, linkLimit, readLink, writeLink } from '../src/link.ts';
import { facts, parseCsv, parseTable, quantity } from '../src/parse.ts';
import { headline, paretoSpec, planFacts, planRequest, speedupSpec } from '../src/plan_answer.ts';
import { given, withQuery, withUnit } from '../src/request.ts';
import { fromPosition, steps, toPosition } from '../src/slider.tsx';
import { capital, inputName } from '../src/ui.tsx';

test('reading a link gives the values that were written', () => {
  const values = { job: 'own', yaml: 'compute: 10/n\n# ä & = ? #\n', on: 'a,b', batch: '64' };
  assert.deepEqual(readLink(writeLink({ view: 'plan', values })), { view: 'plan', values });
  for (const view of ['plan', 'recommend', 'runs', 'algorithm'])
    assert.deepEqual(readLink(writeLink({ view, values: {} })), { view, values: {} });
});

test('an unknown link opens the first view', () => {
  for (const hash of ['', '#', '#nothing?a=b', '#%E0%A4%A', '#plan?', '#__proto__?a=1'])
    assert.deepEqual(readLink(hash), { view: 'plan', values: {} });
});

test('a link of version 0.1 is still read', () => {
  assert.deepEqual(readLink('#plan?max=64'), { view: 'plan', values: { max_n: '64' } });
});

test('a link leaves out empty and too long values', () => {
  const long = 'x'.repeat(linkLimit + 1);
  assert.equal(writeLink({ view: 'algorithm', values: { loss: '1e-4', traces: long, goal: '' } }), '#algorithm?loss=1e-4');
  assert.equal(isCut({ view: 'algorithm', values: { traces: long } }), true);
  assert.deepEqual(change({ a: '1', b: '2' }, { b: '', c: '3' }), { a: '1', c: '3' });
});

test('quantities are written with units', () => {
  assert.deepEqual([0, 3e-9, 2.5e-5, 0.0514, 1, 119, 600, 30852, 1e6].map(time), ['0 s', '3.00 ns', '25.0 µs', '51.4 ms', '1.00 s', '119 s', '10.0 min', '8.57 h', '11.6 days']);
  assert.deepEqual([null, undefined, NaN].map(time), ['–', '–', '–']);
  assert.deepEqual([0, 1882.4, 12345, 3.06, 0.00072, 1.9e-5].map(money), ['$0', '$1,882', '$12,345', '$3.06', '$0.00072', '$1.9e-5']);
  assert.deepEqual([0, 0.001, 0.66, 0.999, 1].map(percent), ['0 %', 'under 1 %', '66 %', 'over 99 %', '100 %']);
  assert.deepEqual([0, 1234567, 1e-5, 15.68, 999].map((v) => number(v)), ['0', '1.23e6', '1.00e-5', '15.7', '999']);
  assert.deepEqual([25, 0.1, 1024, 1e12].map((v) => plain(v, 6)), ['25', '0.1', '1024', '1e12']);
  assert.deepEqual([125e6, 5e10, 4e11].map(bitRate), ['1.00 Gbit/s', '400 Gbit/s', '3.20 Tbit/s']);
  assert.deepEqual(timeUnit(10000), { size: 3600, name: 'h' });
});

test('quantities are read', () => {
  const read = ['25 Gbit/s', '125 MB/s', '20 ms', '20us', '$3.06/h', '3.06 $/h', '1_281_167', '60e6'].map(quantity);
  assert.deepEqual(read.map((v) => Number(v.toPrecision(12))), [25e9, 1e9, 0.02, 2e-5, 3.06, 3.06, 1281167, 6e7]);
  assert.deepEqual(['', 'ten', '3 parsecs', '0.8 * 200 Gflop/s'].map(quantity), [null, null, null, null]);
});

test('the values of the sliders are found in a job', () => {
  const job = 'name: x # y\nnetwork: resnet-50\nbatch: 64\ncluster: {machine: p3.2xlarge, price: $3.06/h, max_nodes: 128}\n';
  assert.deepEqual(facts(job), { counted: true, name: 'x', machine: 'p3.2xlarge', fabric: undefined, batch: 64, price: 3.06 });
  const block = 'batch: 10\nnetwork:\n  parameters: 12e6\ncluster:\n  link: {bandwidth: 300 GB/s, latency: 3 us}\n  fabric: {bandwidth: 1 Gbit/s, latency: 50 us}\n';
  const found = facts(block);
  assert.deepEqual([found.batch, found.bandwidth, found.latency, found.counted], [10, 1e9, 5e-5, true]);
  assert.equal(facts('compute: 10/n\ncommunicate: 0.5*n\n').counted, false);
  assert.equal(facts('network: a\ncluster: p4d.24xlarge\n').machine, 'p4d.24xlarge');
});

test('tables are read and written', () => {
  assert.deepEqual(parseCsv('# note\na,b\r\n1,"x, ""y"""\n\n2,\n'), [{ a: 1, b: 'x, "y"' }, { a: 2, b: null }]);
  assert.deepEqual(parseTable('{"n":1}\n{"n":2}\n'), [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(parseCsv(''), []);
  const rows = [{ a: 1, b: 'x, "y"\nz' }, { a: null, b: '' }];
  assert.equal(toCsv(['a', 'b'], rows), 'a,b\n1,"x, ""y""\nz"\n,\n');
});

test('a position of a slider survives the conversion to a value and back', () => {
  const range = { key: 'b', label: '', unit: '', low: 0.1, high: 6400 };
  for (let p = 0; p <= steps; p++) assert.equal(toPosition(range, fromPosition(range, p)), p);
  const batch = { ...range, low: 1, high: 1e6, whole: true };
  assert.ok(Number.isInteger(fromPosition(batch, 7)));
  assert.deepEqual([toPosition(batch, 1e9), toPosition(batch, 1e-9)], [steps, 0]);
});

test('axes have round ticks', () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(logTicks(1, 1000), [1, 10, 100, 1000]);
  assert.deepEqual(logTicks(1, 20), [1, 2, 4, 8, 16]);
  assert.deepEqual(scale([], false, 5, true).low, 0);
  assert.deepEqual(align([{ x: [1, 3], y: [10, 30] }, { x: [2], y: [5] }]), { x: [1, 2, 3], values: [[10, null, 30], [null, 5, null]] });
});

const point = (n, more) => ({ n, nodes: n, time_s: 10 / n, compute_s: 10 / n, communicate_s: 0, speedup: n, efficiency: 1, total_s: 10 / n, node_s: 10, low_s: 9 / n, high_s: 12 / n, cost: null, meets: null, memory_bytes: null, memory_limit_bytes: null, micro_batch: null, scheme: null, fits: true, ...more });
const plan = {
  status: 'ok', job: null, machine: null, goal: 'time', total_of: 'iteration', reference: 1, iterations: null, scaling: 'strong', samples_per_s: null, level: 0.9, sure_near: null, slack: 0.05, certainty: null, sheet_kind: 'jobs', knee_hours: 1,
  advised_runs: { n: [1, 2], run_s: 120, within: 0.06 }, alternatives: { cheapest: null, balanced: null, fastest: null },
  recommended: point(4), best: point(4), knee: point(2), missed: null, nearest: null, nearest_gap: null, plateau: { from: null, to: null },
  at_ceiling: false, beyond: { n: null, speedup: null }, limit: { kind: 'compute', share: 1, why: '' }, help: [], ranking: [], notes: [],
  pareto: [point(4)], curve: [point(1), point(2), point(4)],
};

test('a plan in sentences', () => {
  assert.equal(headline(plan), 'Use 4 workers: 2.50 s an iteration, 4.00× as fast as one.');
  assert.equal(headline({ ...plan, recommended: null, best: null, status: 'unreached', missed: 'deadline' }), 'No number of workers meets the deadline.');
  assert.equal(headline({ ...plan, status: 'no-speedup' }), 'More workers do not help: one is the fastest.');
  const facts = planFacts(plan);
  assert.deepEqual(facts[0], { name: 'Cost', text: '0.00278 node-hours an iteration' });
  assert.deepEqual(facts[1], { name: 'How sure', text: 'about ±15 %, 2.25 s to 3.00 s an iteration (90 %): the spread of published measurements of jobs. Runs with n = 1, 2 would make it ±6 %' });
  const limited = { ...plan, certainty: 0.9, sure_near: 0.91, n_low: 3, n_high: 7, recommended: point(4, { meets: 0.93 }) };
  assert.deepEqual(planFacts(limited)[1], { name: 'Deadline and budget', text: 'met with a probability of 93 % (asked 90 %)' });
  assert.match(planFacts(limited)[2].text, /^91 % sure to be within 5 % of the best; the exact best lies between 3 and 7\. The time: about/);
  const missed = { ...limited, recommended: null, best: null, status: 'unreached', missed: 'deadline', nearest: point(4, { meets: 0.41 }), nearest_gap: 1.2 };
  assert.equal(headline(missed), 'No number of workers meets the deadline with a probability of 90 %.');
  assert.match(planFacts(missed)[0].text, /met with a probability of 41 % \(asked 90 %\)$/);
  assert.deepEqual(facts[2], { name: 'Limited by', text: 'computing, 100 % of the time' });
  const job = { ...plan, machine: 'p4d.24xlarge', total_of: 'job', goal: 'time', knee_hours: 3.2, recommended: point(8, { nodes: 1, total_s: 7200, cost: 44 }), best: point(16, { node_s: 30 }), knee: point(2, { total_s: 14400, cost: 20 }) };
  assert.equal(headline(job), 'Use 1 × p4d.24xlarge (8 workers): 2.00 h, $44.00; that is 3.20× the machine-hours of 2 workers, which take 4.00 h and $20.00.');
  assert.ok(planFacts(job).some((fact) => fact.name === 'Optimum' && /^16 workers/.test(fact.text)));
  const priced = { ...plan, alternatives: { cheapest: point(1, { cost: 1 }), balanced: point(2, { cost: 2 }), fastest: point(4, { cost: 3 }) } };
  assert.deepEqual(planFacts(priced).filter((fact) => /est$|ced$/.test(fact.name)).map((fact) => fact.text), ['1 worker: 10.0 s, $1.00', '2 workers: 5.00 s, $2.00', '4 workers: 2.50 s, $3.00']);
  const machines = { ...plan, machine: 'a', alternatives: { cheapest: point(4, { cost: 1, machine: 'b' }), balanced: point(4, { cost: 2, machine: 'a' }), fastest: point(4, { cost: 2, machine: 'a' }) } };
  assert.equal(planFacts(machines).find((fact) => fact.name === 'Cheapest').text, '4 × b: 2.50 s, $1.00');
});

test('a plan request has the values of the view, with units', () => {
  const body = planRequest({ batch: '64', latency: '5', price: '2', on: 'a,b', goal: 'cost', max_n: '8', job: 'own' }, 'x', (key) => key !== 'batch');
  assert.deepEqual(body, { job: 'x', on: ['a', 'b'], set: { 'cluster.fabric.latency': '5 us', 'cluster.price': '$2/h' }, goal: 'cost', max_n: '8' });
});

test('requests have the given fields, as a query or with units', () => {
  assert.deepEqual(given({ a: '1', b: '', c: '3' }, ['a', 'b', 'd']), { a: '1' });
  assert.equal(withQuery('v1/x', { where: ['n>=4', 'a=b'], limit: 5, sort: undefined }), 'v1/x?where=n%3E%3D4&where=a%3Db&limit=5');
  assert.equal(withQuery('v1/x', { where: [] }), 'v1/x');
  assert.deepEqual(['20', '1e-3', '20 us', 'x'].map((text) => withUnit(text, '', 'ms')), ['20ms', '1e-3ms', '20 us', 'x']);
});

test('a problem belongs to the input of its field or of its document', () => {
  assert.equal(inputName({ field: 'max_n', line: 1 }), 'max_n');
  assert.equal(inputName({ field: 'cluster.price', source: 'set', line: 1 }), 'cluster.price');
  assert.equal(inputName({ field: 'compute', source: 'job', line: 2 }), 'job');
  assert.equal(inputName({ title: 'x' }), null);
  assert.deepEqual(['line 2, n: x', 'm: workers', 'why?'].map(capital), ['Line 2, n: x.', 'm: workers.', 'Why?']);
});

test('charts are SVG files', () => {
  const svg = chartSvg(speedupSpec(plan));
  assert.match(svg, /^<svg xmlns/);
  assert.match(svg, /recommended 4/);
  assert.doesNotMatch(svg, /NaN|undefined/);
  assert.match(chartSvg({ ...speedupSpec(plan), title: 'a < b & c' }), /a &lt; b &amp; c/);
  assert.equal(paretoSpec(plan), null);
});
