// The other views. The store is not part of every server, so its answers are played here.
import { readFileSync } from 'node:fs';

const headline = (page) => page.locator('[data-test=headline]');
const wait = (page, pattern) => headline(page).filter({ hasText: pattern }).waitFor();

const csv = 'n,size,seconds\n1,0.1,23.2\n2,0.1,15.5\n4,0.1,13.6\n8,0.1,14.1\n1,0.2,43.0\n2,0.2,25.9\n4,0.2,18.5\n8,0.2,16.4\n2,0.4,45.6\n4,0.4,28.6\n8,0.4,21.2\n16,0.4,19.3\n';
const rows = [];
for (let i = 0; i < 60; i++) {
  const [n, batch, latency] = [1 + (i % 4), [1280, 6400, 64000][i % 3], [0, 0.02, 0.06][Math.floor(i / 3) % 3]];
  rows.push({ id: i + 1, made_at: `2026-11-${10 + (i % 9)}T08:00:00Z`, status: 'ok', algorithm: 'sgd', machine: 'anwar-vm', n, batch, latency, seconds: 3 + (0.02 * batch) / n + 400 * latency * n * (1 + 0.01 * (i % 5)) });
}
const recommendation = {
  howmany: '0.1.0', way: 'fit', source: 'runs', reason: 'no run has batch 12800, latency 30 ms: a fit of 43 runs, of each n by itself', goal: 'time', level: 0.9, best: 0, sure: 0.995, missed: null,
  candidates: [
    { n: 3, time_s: 131, low_s: 115, high_s: 146, cost: null, value: 131, rows: 0, fits: true, failed: false, why: null },
    { n: 2, time_s: 170, low_s: 157, high_s: 184, cost: null, value: 170, rows: 0, fits: true, failed: false, why: null },
    { n: 4, time_s: 244, low_s: 218, high_s: 272, cost: null, value: 244, rows: 0, fits: true, failed: false, why: null },
    { n: 1, time_s: null, low_s: null, high_s: null, cost: null, value: null, rows: 0, fits: false, failed: true, why: 'out of memory (line 3)' },
  ],
  rows: [], next: { n: 3, batch: 12800, latency: 0.03 }, next_why: 'it would check the fit', notes: ['runs of several machines are taken together'],
};

/** A store with sixty runs; asked is filled with what was asked. */
async function store(page, asked = []) {
  await page.route('**/v1/runs*', async (route) => {
    const url = new URL(route.request().url());
    asked.push(route.request().method() + ' ' + decodeURIComponent(url.search).replace(/\+/g, ' '));
    if (route.request().method() === 'POST') return route.fulfill({ json: { added: 12 } });
    const from = Number(url.searchParams.get('after') ?? 0);
    const limit = Number(url.searchParams.get('limit'));
    const least = url.searchParams.getAll('where').includes('n>=3') ? 3 : 1;
    const found = rows.filter((row) => row.n >= least);
    return route.fulfill({ json: { runs: found.slice(from, from + limit), next: from + limit < found.length ? String(from + limit) : null } });
  });
  await page.route('**/v1/recommend*', async (route) => {
    asked.push('recommend ' + decodeURIComponent(new URL(route.request().url()).search));
    return route.fulfill({ json: recommendation });
  });
  return asked;
}

async function algorithmTests({ test, open, look, fail, phone }) {
  await test('which algorithm: the example, its advice and its curves', async () => {
    const page = await open('#algorithm');
    await wait(page, 'Use cocoa+ on 8 workers: 10.6 ms to 0.001');
    for (const name of ['Convergence', 'Time to the loss']) await page.getByRole('img', { name: new RegExp('^' + name) }).waitFor();
    await page.getByLabel('Curves over').selectOption('iterations');
    await look(page, 'algorithm-wide-light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize(phone);
    await look(page, 'algorithm-phone-dark');
  });

  await test('which algorithm: another question, by keyboard', async () => {
    const page = await open('#algorithm');
    await wait(page, /^Use/);
    await page.getByLabel('Loss above the best').focus();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('1e-4');
    await wait(page, 'to 0.0001');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('Delete');
    await page.keyboard.press('Tab');
    await page.keyboard.type('10 ms');
    await wait(page, 'above the best after 10.0 ms');
    await page.getByRole('img', { name: /^Loss in that time/ }).waitFor();
    const again = await open(await page.evaluate(() => location.hash));
    await wait(again, await headline(page).textContent());
  });

  await test('which algorithm: a packed file is opened; a wrong one is told', async () => {
    const page = await open('#algorithm');
    await wait(page, /^Use cocoa\+ on 8/);
    await page.locator('#trace-file').setInputFiles('examples/mnist-traces.csv.gz');
    await page.getByText('mnist-traces.csv.gz: 12839 lines').waitFor();
    await page.getByText('gd on 64 workers').first().waitFor({ timeout: 20000 });
    await page.locator('#trace-file').setInputFiles({ name: 'x.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') });
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Back to the example' }).click();
    await wait(page, /^Use cocoa\+ on 8 workers: 10\.6 ms/);
  });
}

async function runsTests({ test, open, look, fail, phone }) {
  await test('runs: without a store the page says so, and fits a table that is opened', async () => {
    const page = await open('#runs');
    await page.locator('[data-test=no-store]').waitFor();
    await look(page, 'runs-none-light');
    await page.locator('#runs-file').setInputFiles({ name: 'runs.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await page.getByRole('heading', { name: '12 runs of the file' }).waitFor();
    await page.getByRole('img', { name: /^Predicted against measured/ }).waitFor();
    await page.getByLabel('Only runs with').fill('n>=8');
    await page.getByRole('heading', { name: '4 runs of the file' }).waitFor();
    await page.getByLabel('Only runs with').fill('');
    await page.getByRole('button', { name: /^seconds/ }).click();
    const first = await page.getByRole('region', { name: 'Table: runs' }).locator('tbody tr').first().textContent();
    if (!first.includes('45.6')) fail('not sorted: ' + first);
    await look(page, 'runs-file-wide-light');
    const again = await open(await page.evaluate(() => location.hash));
    await again.getByRole('heading', { name: '12 runs of the file' }).waitFor();
  });

  await test('runs: filter, sort and page those of a store', async () => {
    const page = await open();
    const asked = await store(page);
    await page.getByRole('link', { name: 'Runs' }).click();
    const table = page.getByRole('region', { name: 'Table: runs' });
    await table.waitFor();
    if ((await table.locator('tbody tr').count()) !== 25) fail('not a page of 25');
    await page.getByRole('img', { name: /^Predicted against measured/ }).waitFor();
    await look(page, 'runs-wide-light');
    await page.getByRole('button', { name: 'Next page' }).focus();
    await page.keyboard.press('Enter');
    await table.getByText('26', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: /^seconds/ }).press('Enter');
    await page.waitForFunction(() => location.hash.includes('sort=-seconds'));
    await page.locator('th[aria-sort=descending]').waitFor();
    await page.getByLabel('Only runs with').fill('n>=3');
    await page.waitForTimeout(500);
    const last = asked[asked.length - 1];
    if (!last.includes('where=n>=3') || !last.includes('sort=-seconds') || last.includes('after')) fail('asked ' + last);
    await page.setViewportSize(phone);
    await page.emulateMedia({ colorScheme: 'dark' });
    await look(page, 'runs-phone-dark');
  });

  await test('runs: a file is uploaded to the store', async () => {
    const page = await open();
    const asked = await store(page);
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.locator('#runs-file').setInputFiles({ name: 'runs.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await page.getByRole('button', { name: 'Keep them on the server' }).click();
    await page.getByRole('region', { name: 'Table: runs' }).getByText('anwar-vm').first().waitFor();
    if (!asked.some((line) => line.startsWith('POST'))) fail('nothing was sent');
  });
}

async function recommendTests({ test, open, look, fail, phone }) {
  await test('recommend: without a store the page says so', async () => {
    const page = await open('#recommend');
    await page.locator('[data-test=no-store]').waitFor();
    await look(page, 'recommend-none-light');
  });

  await test('recommend: a batch and a latency in, workers out, with the runs behind it', async () => {
    const page = await open('#plan');
    const asked = await store(page);
    await page.getByRole('link', { name: 'Recommend' }).press('Enter');
    await page.getByLabel('Batch').focus();
    await page.keyboard.type('12800');
    await page.keyboard.press('Tab');
    await page.keyboard.type('30');
    await wait(page, 'Use 3 workers: 2.18 min (115 s to 2.43 min).');
    await page.getByText('1 worker: out of memory').waitFor();
    await page.getByRole('region', { name: 'Table: runs behind it' }).waitFor();
    if (!asked.some((line) => line === 'recommend ?batch=12800&latency=30ms')) fail('asked ' + asked.filter((l) => l.startsWith('rec')).join(' '));
    await look(page, 'recommend-wide-light');
    await page.setViewportSize(phone);
    await page.emulateMedia({ colorScheme: 'dark' });
    await look(page, 'recommend-phone-dark');
  });
}

async function frameTests({ test, open, fail }) {
  await test('each view keeps its state while others are looked at', async () => {
    const page = await open('#plan?batch=1000');
    await wait(page, /^Use/);
    await page.getByRole('link', { name: 'Which algorithm?' }).click();
    await wait(page, /^Use cocoa/);
    if ((await page.title()) !== 'Which algorithm? – howmany') fail('the title stays');
    await page.getByRole('link', { name: 'How many?' }).click();
    if ((await page.locator('#set-batch-number').inputValue()) !== '1000') fail('the batch is lost');
    await page.goBack();
    await wait(page, /^Use cocoa/);
  });

  await test('a server that wants a token is given one', async () => {
    const page = await open();
    await page.route('**/v1/**', async (route) => {
      if (route.request().headers().authorization === 'Bearer secret') return route.continue();
      return route.fulfill({ status: 401, contentType: 'application/problem+json', json: { title: 'who asks?', status: 401, detail: 'a token is needed' } });
    });
    await page.reload();
    await page.getByLabel('This server asks for a token:').fill('secret');
    await page.keyboard.press('Enter');
    await wait(page, /^Use 80/);
  });

  await test('a server that is gone is told of', async () => {
    const page = await open();
    await wait(page, /^Use 80/);
    await page.route('**/v1/plan', (route) => route.abort());
    await page.locator('#set-batch-number').fill('100');
    await page.getByRole('alert').filter({ hasText: 'The server does not answer.' }).waitFor();
    page.complaints.length = 0;
  });
}

export async function viewTests(tools) {
  readFileSync('examples/mnist-traces.csv.gz'); // run from the root of the project
  await algorithmTests(tools);
  await runsTests(tools);
  await recommendTests(tools);
  await frameTests(tools);
}
