// Tests of the pure functions of the other views.
import assert from 'node:assert/strict';
import test from 'node:test';
import { adviceFacts, adviceLine, adviseRequest, bestOfEach, candidateSpec, chosenTraces, convergenceSpec, readTraces } from '../src/advice.ts';
import { chartSvg } from '../src/chart_svg.ts';
import { recommendLine, recommendPath, recommendSpec } from '../src/recommend_data.ts';
import { conditions, filtered, fitTarget, fullPage, holds, isTable, residualSpec, runsPath, sampleRuns, storedFitRequest } from '../src/runs_data.ts';

const candidate = (algorithm, n, time_s, more) => ({ algorithm, n, measured: true, iterations: 4, iteration_s: time_s / 4, time_s, low_s: time_s, high_s: time_s, cost: null, loss: 1e-3, loss_low: null, loss_high: null, reaches: 1, probability: 0.5, why: 'best', ...more });
const best = candidate('a', 4, 0.01);
const advice = {
  status: 'ok', best_loss: 0.1, loss: 1e-3, within_s: null, budget: null, goal: 'time', best, sure: 0.6, sure_near: 0.7, sure_algorithm: 1,
  candidates: [best, candidate('a', 8, 0.02), candidate('b', 2, 0.03, { why: 'both' })], next: null, notes: [],
};
const traces = 'algorithm,m,seed,iteration,seconds,objective\na,1,1,1,0.5,0.3\na,1,1,2,0.5,0.2\na,1,2,1,0.5,9\na,16,1,1,0.1,0.25\nb,2,1,1,1,0.4\nb,2,1,2,1,0.1\n';

test('advice in sentences', () => {
  assert.equal(adviceLine(advice), 'Use a on 4 workers: 10.0 ms to a loss of 0.001 above the best (10.0 ms to 10.0 ms).');
  assert.equal(adviceLine({ ...advice, loss: null, within_s: 10 }), 'Use a on 4 workers: a loss of 0.001 above the best after 10.0 s.');
  assert.match(adviceLine({ ...advice, status: 'unreached', best: null }), /^No candidate is likely/);
  assert.equal(adviceLine({ ...advice, candidates: [] }), 'The traces give no candidate.');
  assert.ok(adviceFacts(advice).some((fact) => fact.text === 'b on 2 workers: 30.0 ms, longer iterations, and more of them'));
  assert.deepEqual(adviseRequest({ loss: '1e-3', price: '0.5', by: 'time' }, 'x'), { traces: 'x', loss: '1e-3', price: '$0.5/h' });
});

test('traces are read: the first seed, with the time since the start', () => {
  const read = readTraces(traces);
  assert.deepEqual(read.map((t) => [t.algorithm, t.m, t.seconds, t.losses]), [['a', 1, [0.5, 1], [0.3, 0.2]], ['a', 16, [0.1], [0.25]], ['b', 2, [1, 2], [0.4, 0.1]]]);
  assert.deepEqual(chosenTraces(read, advice).map((t) => [t.algorithm, t.m]), [['a', 1], ['b', 2]]);
  assert.deepEqual(readTraces('x,y\n1,2\n'), []);
  assert.deepEqual(bestOfEach(advice.candidates).map((c) => c.n), [4, 2]);
});

test('curves of traces and candidates', () => {
  const spec = convergenceSpec(readTraces(traces), advice, false);
  assert.deepEqual(spec.x, [0.5, 1, 2]);
  assert.equal(spec.lines[1].values[2], null); // The best loss itself is not on a logarithmic axis.
  assert.equal(convergenceSpec([], advice, false), null);
  for (const s of [spec, candidateSpec(advice), convergenceSpec(readTraces(traces), advice, true)]) assert.doesNotMatch(chartSvg(s), /NaN|undefined|Infinity/);
});

test('runs are filtered and sorted with the rules of the server', () => {
  const rows = [{ n: 1, a: 'x', latency: 0.02 }, { n: 10, a: 'y', latency: 0.05 }, { n: 2, a: 'x', latency: null }];
  assert.deepEqual(conditions(' n>=2 , a=x ,'), ['n>=2', 'a=x']);
  const n = (where, sort = '') => filtered(rows, where, sort).map((row) => row.n);
  assert.deepEqual([n('n>=2'), n('n<10'), n('a=x, n!=1'), n('latency<=20ms'), n('', '-n'), n('', 'n'), n('z=1')], [[10, 2], [1, 2], [2], [1], [10, 2, 1], [1, 2, 10], []]);
  assert.equal(holds(rows[0], 'nonsense'), true);
  assert.equal(runsPath({ where: 'n>=4,a=x', sort: '-n', after: '7' }), 'v1/runs?where=n%3E%3D4&where=a%3Dx&sort=-n&after=7&limit=25');
});

test('a page that is not full is filled with the next runs', async () => {
  const asked = [];
  const pages = [{ runs: [{ id: 9 }], next: '-n.u.9' }, { runs: [], next: '-n.u.5' }, { runs: [{ id: 4 }, { id: 3 }], next: '-n.u.3' }];
  const page = await fullPage('v1/runs?where=n%3E%3D4&sort=-n&limit=3', (path) => { asked.push(path); return Promise.resolve(pages.shift()); });
  assert.deepEqual(page, { runs: [{ id: 9 }, { id: 4 }, { id: 3 }], next: '-n.u.3' });
  assert.deepEqual(asked.slice(1), ['v1/runs?where=n%3E%3D4&sort=-n&limit=2&after=-n.u.9', 'v1/runs?where=n%3E%3D4&sort=-n&limit=2&after=-n.u.5']);
  assert.deepEqual(await fullPage('v1/runs?limit=3', () => Promise.resolve({ runs: [{ id: 1 }], next: null })), { runs: [{ id: 1 }], next: null });
});

test('a fit of stored runs is a fit of all that match', () => {
  const rows = [{ id: 1, n: 1, batch: 10, seconds: 3 }, { id: 2, n: 2, batch: 20, seconds: 2 }];
  assert.deepEqual(storedFitRequest('n>=2, a=x', rows), { where: ['n>=2', 'a=x'], target: { n: 1, batch: 20 } });
  assert.deepEqual(storedFitRequest('', rows), { target: { n: 1, batch: 20 } });
  assert.deepEqual(fitTarget([{ workers: 1, 'latency (ms)': 0 }, { workers: 1, 'latency (ms)': 5 }]), { n: 1, latency: 5 });
  assert.equal(fitTarget([{ n: 1 }]), undefined);
  const fit = { error: 0.1, left_out_error: 0.2, terms: [], residuals: [{ n: 1, seconds: 4, left_out_s: 5 }, { n: 2, seconds: 2, left_out_s: 2 }] };
  assert.deepEqual(residualSpec(fit).x, [2, 4]);
  assert.equal(residualSpec({ ...fit, residuals: [] }), null);
});

test('tables are told from other files', () => {
  for (const text of [sampleRuns, 'workers,Latency (ms),seconds\n1,2,3\n', '# note\nalgorithm,m,iteration,objective\n', '{"n": 1, "seconds": 2}\n']) assert.equal(isTable(text), true, text);
  for (const text of ['compute: 10/n\ncommunicate: 0.5*log2(n)\n', 'name: a, b\nn: 4\n', '{"model_type": "llama"}', '', '#\n', 'one line', 'x,y\n1,2\n']) assert.equal(isTable(text), false, text);
});

test('a recommendation in sentences', () => {
  const c = (n, time_s, more) => ({ n, time_s, low_s: null, high_s: null, cost: null, row_count: 1, feasible: true, failed: false, why: null, ...more });
  const r = { status: 'ok', provenance: 'rows', reason: '', best: c(3, 568), recommended: c(3, 568), sure: null, missed: null, candidates: [c(3, 568), c(4, 729), c(1, null, { failed: true })], next: null, next_why: null, notes: [] };
  assert.equal(recommendLine(r), 'Use 3 workers: 9.47 min.');
  assert.equal(recommendLine({ ...r, recommended: c(3, 568, { low_s: 500, high_s: 600, cost: 0.42 }) }), 'Use 3 workers: 9.47 min (8.33 min to 10.0 min), for $0.42.');
  assert.equal(recommendLine({ ...r, recommended: null }), 'There are not enough runs for a recommendation.');
  assert.equal(recommendLine({ ...r, recommended: null, missed: 'budget' }), 'No number of workers meets the budget.');
  assert.deepEqual(recommendSpec(r).x, [3, 4]);
  assert.equal(recommendPath({ batch: '64000', latency: '60', goal: 'cost', price: '1' }), 'v1/recommend?batch=64000&goal=cost&latency=60ms&price=%241%2Fh');
});
