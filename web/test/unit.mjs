// Tests of the pure functions of the page.
import './unit_views.mjs';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { align, logTicks, placeLabels, scale, ticks } from '../src/chart_spec.ts';
import { chartSvg } from '../src/chart_svg.ts';
import { bitRate, money, moneyTick, number, percent, plain, time, timeUnit, toCsv } from '../src/format.ts';
import { change, isCut, linkLimit, readLink, writeLink } from '../src/link.ts';
import { facts, parseCsv, parseTable, quantity } from '../src/parse.ts';
import { acceleratorOf, providerOf } from '../src/machines.tsx';
import { hasLayouts, jobText, workOf } from '../src/model.ts';
import { choices, headline, ofOneMachine, planFacts, planRequestOf, scenarioRows } from '../src/plan_answer.ts';
import { machineSpec, paretoSpec, speedupSpec, timeSpec } from '../src/plan_charts.ts';
import { report } from '../src/report.ts';
import { given, withQuery, withUnit } from '../src/request.ts';
import { fromPosition, steps, toPosition } from '../src/slider.tsx';
import { palette, paletteDark } from '../src/types.gen.ts';
import { capital, inputName, sortedRows } from '../src/ui.tsx';

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
  assert.deepEqual([0, 75, 2.5, 1500, 15000, 2.5e6].map(moneyTick), ['$0', '$75', '$2.5', '$1,500', '$15k', '$2.5M']);
  assert.deepEqual([25, 0.1, 1024, 1e12, 1048576, 17179869184, 1048576.5].map((v) => plain(v, 6)), ['25', '0.1', '1024', '1e12', '1048576', '17179869184', '1048580']);
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
});

test('the three choices of a plan', () => {
  const names = (p) => choices(p).map((c) => [c.name, c.point.n, c.recommended]);
  const priced = (a, b, c, more) => ({ ...plan, alternatives: { cheapest: point(a, { cost: 1 }), balanced: point(b, { cost: 2 }), fastest: point(c, { cost: 3 }) }, ...more });
  assert.deepEqual(names(priced(1, 2, 4)), [['Cheapest', 1, false], ['Balanced', 2, false], ['Fastest', 4, true]]);
  assert.deepEqual(names(priced(1, 4, 4)), [['Cheapest', 1, false], ['Balanced and fastest', 4, true]]);
  assert.deepEqual(names(priced(1, 1, 2)), [['Cheapest and balanced', 1, false], ['Fastest', 2, false], ['Within the limits', 4, true]]);
  assert.deepEqual(names(plan), [['Recommended', 4, true]]);
  assert.deepEqual(names({ ...plan, status: 'unreached', recommended: null }), []);
});

test('a plan request has the values of the view, with units', () => {
  const own = { job: 'own', yaml: 'compute: 1 s/n\ncommunicate: latency*n\n', latency: '5', price: '2', bandwidth: '9', on: 'a,b', goal: 'cost', max_n: '8', nodes: '4', batch: '64' };
  assert.deepEqual(planRequestOf(own, []), { job: own.yaml, goal: 'cost', max_n: '8', batch: '64', on: ['a', 'b'], set: { 'cluster.fabric.latency': '5 us', 'cluster.price': '$2/h', 'cluster.max_nodes': '4' } });
  const networks = [{ name: 'llama', parameters: 8e9, active_parameters: 8e9 }, { name: 'resnet-50', parameters: 25e6, active_parameters: null }];
  const large = { job: 'net:llama', precision: 'fp8', tensor: '8', sequence: '4096' };
  assert.deepEqual(planRequestOf(large, networks), { job: 'llama', sequence: '4096', tokens: '100B', on: ['p5.48xlarge'], set: { precision: 'fp8', 'parallel.tensor': '8' } });
  assert.deepEqual(planRequestOf({ job: 'net:resnet-50', iterations: '5' }, networks), { job: 'resnet-50', iterations: '5', on: ['p5.48xlarge'] });
  assert.deepEqual([hasLayouts(large, networks), hasLayouts({ job: 'net:resnet-50' }, networks), hasLayouts({ job: 'own', yaml: 'network:\n  kind: transformer\n' }, [])], [true, false, true]);
  assert.deepEqual(workOf({ job: 'net:resnet-50', work: 'epochs' }, false), { unit: 'epochs', amount: '' });
  assert.deepEqual([jobText({}), jobText({ job: 'own' }), jobText({ job: 'ex:none' })], ['gpt-2', '', '']);
});

test('the curve of one machine, and the machines compared', () => {
  const mixed = { ...plan, machine: 'a', curve: [point(4, { machine: 'a' }), point(2, { machine: 'b' }), point(1, { machine: 'a' }), point(1, { machine: 'a', time_s: 99 })] };
  assert.deepEqual(ofOneMachine(mixed).curve.map((p) => [p.n, p.time_s]), [[1, 10], [4, 2.5]]);
  const rank = (machine, total_s, cost, more) => ({ machine, scheme: null, feasible: true, n: 8, time_s: 1, speedup: 1, total_s, cost, why: null, ...more });
  const spec = machineSpec([rank('slow', 7200, 1), rank('fast', 3600, 9), rank('none', null, null, { feasible: false })], true);
  assert.deepEqual([spec.x, spec.marks.map((m) => m.label), spec.summary], [[1, 2], ['fast × 8', 'slow × 8'], 'Each machine with its best number of workers: fast is the fastest, slow the cheapest.']);
  assert.equal(machineSpec([rank('one', 1, 1)], true), null);
  const machine = { name: 'p5', title: 'AWS p5.48xlarge, 8x H100 80 GB, EFA v2' };
  assert.deepEqual([providerOf(machine), acceleratorOf(machine), providerOf({ title: 'laptop, 4 cores' }), acceleratorOf({ title: null })], ['AWS', '8x H100 80 GB', 'own', 'CPU']);
});

test('two scenarios side by side', () => {
  const rows = scenarioRows({ job: 'net:a' }, { ...plan, recommended: point(4, { cost: 2 }) }, { job: 'own' }, { ...plan, recommended: point(8, { cost: 3 }) });
  assert.deepEqual(rows.slice(0, 4).map((r) => [r.what, r.kept, r.now, r.change]), [['Model', 'a', 'a job of your own', ''], ['Rent', '4 workers', '8 workers', '2.00×'], ['Time', '2.50 s', '1.25 s', '0.500×'], ['Cost', '$2.00', '$3.00', '1.50×']]);
  assert.equal(scenarioRows({}, plan, {}, { ...plan, recommended: null })[1].now, 'no answer');
});

test('the report is one HTML file', () => {
  const html = report({ ...plan, howmany: '1', notes: ['a <b>'] }, [speedupSpec(plan), timeSpec(plan)], '{"job": "<x>"}', 'http://x/#plan?a=1&b=2');
  assert.match(html, /^<!doctype html>/);
  for (const part of ['<svg', 'Use 4 workers', 'a &lt;b&gt;', '{&quot;job&quot;: &quot;&lt;x&gt;&quot;}', 'href="http://x/#plan?a=1&amp;b=2"', '<td>2.50 s</td>']) assert.ok(html.includes(part), part);
  assert.doesNotMatch(html, /NaN|undefined|<script|(src|href)="(?!http:\/\/x)/);
});

test('labels of marks do not cover each other or a point', () => {
  const frame = { x: 0, y: 0, width: 400, height: 200 };
  const points = [{ x: 100, y: 100, width: 90 }, { x: 104, y: 103, width: 60, under: true }, { x: 390, y: 100, width: 80 }, { x: 110, y: 8, width: 70 }, { x: 98, y: 99, width: 50 }];
  const boxes = placeLabels(points, frame, 12).map((spot, i) => [spot.x, spot.y - 12, spot.x + points[i].width, spot.y + 2.4]);
  const apart = (a, b) => a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
  boxes.forEach((a, i) => {
    assert.ok(a[0] >= 0 && a[2] <= 400 && a[1] >= 0 && a[3] <= 200, `label ${i} is outside`);
    boxes.forEach((b, k) => assert.ok(i === k || apart(a, b), `labels ${i} and ${k} overlap`));
    points.forEach((p, k) => assert.ok(apart(a, [p.x - 5, p.y - 5, p.x + 5, p.y + 5]), `label ${i} covers point ${k}`));
  });
});

test('labels of marks avoid lines where there is a free place', () => {
  const frame = { x: 0, y: 0, width: 400, height: 200 };
  const point = { x: 200, y: 100, width: 90 };
  const rising = [{ x: 0, y: 200 }, { x: 200, y: 100 }, { x: 400, y: 0 }];
  const [plainSpot] = placeLabels([point], frame, 12);
  const [spot] = placeLabels([point], frame, 12, [rising]);
  assert.ok(plainSpot.x > 200 && plainSpot.y < 100, 'without lines the label is above, on the right');
  const lineAt = (x) => 200 - x / 2;
  const under = spot.y - 12 > lineAt(spot.x); // The line falls to the right on the screen, so corners decide.
  const above = spot.y + 2.4 < lineAt(spot.x + 90);
  assert.ok(under || above, `the label at ${spot.x}, ${spot.y} is on the line`);
  const steep = [{ x: 200, y: 0 }, { x: 200, y: 200 }];
  const [beside] = placeLabels([point], frame, 12, [steep]);
  assert.ok(beside.x > 200 || beside.x + 90 < 200, 'a vertical line');
  const everywhere = Array.from({ length: 40 }, (_, i) => [{ x: 0, y: 5 * i }, { x: 400, y: 5 * i }]);
  assert.deepEqual(placeLabels([point], frame, 12, everywhere), [plainSpot], 'lines everywhere');
});

test('rows are sorted, missing values last', () => {
  const rows = [{ a: 2 }, { a: null }, { a: 10 }, { a: 1 }];
  const order = (sort) => sortedRows(rows, sort).map((row) => row.a);
  assert.deepEqual([order(''), order('a'), order('-a')], [[2, null, 10, 1], [1, 2, 10, null], [10, 2, 1, null]]);
  assert.deepEqual(sortedRows([{ a: 'b10' }, { a: 'b9' }], 'a').map((row) => row.a), ['b9', 'b10']);
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
  assert.equal(inputName({ field: 'parallel.tensor', source: 'llama-3-8b' }), 'parallel.tensor');
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

test('the page has the colours of the palette, in the light and in the dark', () => {
  const css = readFileSync('src/style.css', 'utf8');
  const [light, dark] = css.split('prefers-color-scheme: dark');
  palette.forEach((colour, i) => assert.ok(light.includes(`--line-${i + 1}: ${colour};`), colour));
  paletteDark.forEach((colour, i) => assert.ok(dark.includes(`--line-${i + 1}: ${colour};`), colour));
});
