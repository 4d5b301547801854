// Tests of the other views. Their order matters: the store is empty at first, and later tests use the runs that earlier ones add.
import { readFileSync } from 'node:fs';
import { problemAt } from './browser_plan.mjs';

const headline = (page) => page.locator('[data-test=headline]');
const wait = (page, pattern) => headline(page).filter({ hasText: pattern }).waitFor();

const csv = 'n,size,seconds\n1,0.1,23.2\n2,0.1,15.5\n4,0.1,13.6\n8,0.1,14.1\n1,0.2,43.0\n2,0.2,25.9\n4,0.2,18.5\n8,0.2,16.4\n2,0.4,45.6\n4,0.4,28.6\n8,0.4,21.2\n16,0.4,19.3\n';
async function algorithmTests({ test, once, open }) {
  await test('which algorithm: the example, its advice and its curves', async () => {
    const page = await open('#algorithm');
    await wait(page, 'Use cocoa+ on 8 workers: 10.7 ms to a loss of 0.001');
    for (const name of ['Convergence', 'Time to the loss']) await page.getByRole('img', { name: new RegExp('^' + name) }).waitFor();
    await page.getByLabel('Curves over').selectOption('iterations');
  });

  await test('which algorithm: another question is typed', async () => {
    const page = await open('#algorithm');
    await wait(page, /^Use/);
    await page.getByLabel('Loss above the best').focus();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('1e-4');
    await wait(page, 'to a loss of 0.0001');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('Delete');
    await page.keyboard.press('Tab');
    await page.keyboard.type('10 ms');
    await wait(page, 'above the best after 10.0 ms');
    await page.getByRole('img', { name: /^Loss in that time/ }).waitFor();
    const again = await open(await page.evaluate(() => location.hash));
    await wait(again, await headline(page).textContent());
  });

  await once('which algorithm: a compressed file is opened; an error in a file is reported', async () => {
    const page = await open('#algorithm');
    await wait(page, /^Use cocoa\+ on 8/);
    await page.locator('#trace-file').setInputFiles('examples/mnist-traces.csv.gz');
    await page.getByText('mnist-traces.csv.gz: 12839 lines').waitFor();
    await page.getByText('gd on 64 workers').first().waitFor({ timeout: 20000 });
    await page.locator('#trace-file').setInputFiles({ name: 'x.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') });
    await problemAt(page, page.locator('#traces-text'), /Line 1: no column 'm'\. m: the number of workers/);
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Back to the example' }).click();
    await wait(page, /^Use cocoa\+ on 8 workers: 10\.7 ms/);
  });
}

async function runsTests({ test, once, open, look, fail, bare }) {
  await once('runs: without a store the page says so, and fits a table that is opened', async () => {
    const page = await open('#runs', { at: bare });
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
    const again = await open(await page.evaluate(() => location.hash), { at: bare });
    await again.getByRole('heading', { name: '12 runs of the file' }).waitFor();
  });

  await test('runs: a table is added to the store, but not twice', async () => {
    const page = await open('#runs');
    await page.getByText('No runs yet').waitFor();
    await page.getByRole('button', { name: 'Show this sample' }).click();
    await page.getByRole('heading', { name: '8 runs of the file' }).waitFor();
    await page.getByRole('img', { name: /^Predicted against measured/ }).waitFor();
    await page.getByRole('button', { name: 'Close the table' }).click();
    for (const line of ['44 runs were added.', 'All 44 runs were already stored.']) {
      await page.locator('#runs-file').setInputFiles('examples/anwar.csv');
      await page.getByRole('heading', { name: '44 runs of the file' }).waitFor();
      await page.getByRole('button', { name: 'Add them to the server' }).click();
      await page.getByRole('status').filter({ hasText: line }).waitFor();
      await page.getByRole('heading', { name: 'Runs', exact: true, level: 2 }).waitFor();
    }
  });

  await test('runs: the fit is of all stored runs that match, not of the visible page', async () => {
    const page = await open('#runs');
    const chart = page.locator('figure', { hasText: 'Predicted against measured' });
    await chart.getByText('Table: predicted against measured').click();
    const visible = await page.getByRole('region', { name: 'Table: runs' }).locator('tbody tr').count();
    const fitted = await chart.locator('tbody tr').count();
    if (visible !== 25 || fitted <= 25) fail(`${visible} runs on the page, ${fitted} in the fit`);
  });

  await once('runs: a table with an error is refused as a whole', async () => {
    const page = await open('#runs');
    await page.locator('#runs-file').setInputFiles({ name: 'x.csv', mimeType: 'text/csv', buffer: Buffer.from('n,seconds\n77,1\n1.5,1\n') });
    await page.getByRole('button', { name: 'Add them to the server' }).click();
    await page.getByRole('alert').filter({ hasText: '1.5' }).waitFor();
    const again = await open('#runs?where=n%3D77');
    await again.getByText('No runs match.').waitFor();
  });

  await test('runs: filter, sort and page the runs of the store', async () => {
    const page = await open('#runs');
    const table = page.getByRole('region', { name: 'Table: runs' });
    await table.waitFor();
    if ((await table.locator('tbody tr').count()) !== 25) fail('not a page of 25');
    await page.getByRole('img', { name: /^Predicted against measured/ }).waitFor();
    await page.getByRole('button', { name: 'Next page' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('[aria-label="Table: runs"] tbody tr').length === 19);
    if (!(await page.getByRole('button', { name: 'Next page' }).isDisabled())) fail('there is a page after the last one');
    await page.getByRole('button', { name: /^seconds/ }).press('Enter');
    await page.locator('th[aria-sort=descending]').waitFor();
    await table.locator('tbody tr').first().filter({ hasText: /13\.[23] min/ }).waitFor(); // The slowest run takes 795 s.
    await page.getByLabel('Only runs with').fill('n=3, latency>=60ms');
    await page.waitForFunction(() => document.querySelectorAll('[aria-label="Table: runs"] tbody tr').length === 6);
    const again = await open(await page.evaluate(() => location.hash));
    await again.waitForFunction(() => document.querySelectorAll('[aria-label="Table: runs"] tbody tr').length === 6);
    await page.getByLabel('Only runs with').fill('nonsense');
    await problemAt(page, page.getByLabel('Only runs with'), /'nonsense' is not COLUMN=VALUE/);
    await page.getByRole('alert').waitFor();
    await look(page, 'runs-wrong-field');
  });
}

async function recommendTests({ test, once, open, look, fail, bare }) {
  await once('recommend: without a store the page says so', async () => {
    const page = await open('#recommend', { at: bare });
    await page.locator('[data-test=no-store]').waitFor();
    await look(page, 'recommend-none-light');
  });

  await test('recommend: a batch and a latency that were measured', async () => {
    const page = await open('#recommend');
    await page.getByText('Enter a batch or a latency.').waitFor();
    await page.getByLabel('Batch').focus();
    await page.keyboard.type('64000');
    await page.keyboard.press('Tab');
    await page.keyboard.type('0');
    await wait(page, /^Use 4 workers: 6\.98 min \(6\.20 min to 7\.76 min\)/);
    await page.getByText('1 worker: out of memory').waitFor();
    const behind = page.getByRole('region', { name: 'Table: runs behind the answer' });
    await behind.waitFor();
    if ((await behind.locator('tbody tr').count()) !== 4) fail('not the four runs');
    await page.getByLabel('Batch').fill('192');
    await wait(page, 'Use 1 worker');
    const again = await open(await page.evaluate(() => location.hash));
    await wait(again, await headline(page).textContent());
  });

  await test('recommend: a latency between the runs gives an interval; a wrong one is reported at its input', async () => {
    const page = await open('#recommend?batch=12800&latency=30');
    await wait(page, /^Use 3 workers: .* \(.* to .*\)\.$/);
    await page.getByText('a fit of similar runs').waitFor();
    await page.getByRole('region', { name: 'Table: runs behind the answer' }).waitFor();
    await page.getByLabel('Latency, ms').fill('fast');
    await problemAt(page, page.getByLabel('Latency, ms'), /'fast' is not a number/);
  });
}

async function storedTracesTest({ test, once, open, fail }) {
  await once("which algorithm: from the traces of the server's store", async () => {
    const runs = await open('#runs');
    await runs.locator('#runs-file').setInputFiles('web/src/sample-traces.csv');
    await runs.getByRole('button', { name: 'Add them to the server' }).click();
    await runs.getByRole('status').filter({ hasText: /traces were added/ }).waitFor();
    const page = await open('#algorithm');
    await wait(page, /^Use cocoa\+ on 8/);
    const line = await headline(page).textContent();
    await page.getByRole('button', { name: 'Use the traces of the server' }).click();
    await page.getByText("The traces of the server's store.").waitFor();
    await page.getByRole('img', { name: /^Convergence/ }).waitFor();
    await wait(page, line);
    if (!(await page.evaluate(() => location.hash)).includes('from=store')) fail('the link does not have the choice');
  });
}

/** These tests add runs of another kind to the store, so they are the last ones that use it. */
async function importTests({ test, once, open, look, fail }) {
  await once('runs: stored names are text, not markup', async () => {
    const page = await open('#runs');
    const name = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';
    const run = { n: 3, seconds: 9, machine: name, algorithm: name, job: name, problem: name };
    const answer = await page.request.post(new URL('/v1/runs', page.url()).href, { data: run });
    if (!answer.ok()) fail('the run was refused: ' + (await answer.text()));
    for (const view of ['#runs?where=n%3D3', '#recommend?batch=64000', '#algorithm']) {
      const shown = await open(view);
      if (view.startsWith('#runs')) await shown.getByRole('region', { name: 'Table: runs' }).getByText('<img src=x').first().waitFor();
      else await shown.waitForTimeout(300);
      if (await shown.evaluate(() => window.attacked !== undefined || document.querySelector('img[src=x]') !== null)) fail('a name became markup in ' + view);
    }
  });

  await test('runs: a file of another tool is shown before it is kept; a job is not a table of runs', async () => {
    const page = await open('#runs');
    await page.locator('#runs-file').setInputFiles('examples/nccl-tests.txt');
    await page.getByRole('heading', { name: /^nccl-tests\.txt: benchmark of communication/ }).waitFor();
    await page.getByText('17 other lines').waitFor();
    if ((await page.getByRole('region', { name: 'Table: rows of the file' }).locator('tbody tr').count()) !== 20) fail('not twenty rows');
    await look(page, 'runs-import');
    await page.getByRole('button', { name: 'Add them to the server' }).click();
    await page.getByRole('status').filter({ hasText: '20 runs were added.' }).waitFor();
    await page.locator('#runs-file').setInputFiles('examples/fig1.yaml');
    await page.getByText('fig1.yaml is neither a table of runs nor a file of a tool that is known.').waitFor();
    const state = JSON.stringify({ log_history: [{ loss: 2, step: 10, epoch: 1 }, { loss: 1.5, step: 20, epoch: 2 }], global_step: 20, max_steps: 20, epoch: 2, total_flos: 1, best_metric: null, best_model_checkpoint: null, is_local_process_zero: true, is_world_process_zero: true, trial_name: null, trial_params: null, num_train_epochs: 2 });
    await page.locator('#runs-file').setInputFiles({ name: 'trainer_state.json', mimeType: 'application/json', buffer: Buffer.from(state) });
    await page.getByText('The number of workers is missing').waitFor();
    await page.getByLabel('Number of workers of these runs').fill('8');
    await page.getByText('The number of workers is missing').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Table: rows of the file' }).getByRole('cell', { name: '8', exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
  });
}

async function frameTests({ test, once, open, fail }) {
  await test('each view keeps its state while other views are shown', async () => {
    const page = await open('#plan?batch=1000');
    await wait(page, /^Use/);
    await page.getByRole('link', { name: 'Which algorithm?' }).click();
    await wait(page, /^Use cocoa/);
    if ((await page.title()) !== 'Which algorithm? – howmany') fail('the title stays');
    await page.getByRole('link', { name: 'How many?' }).click();
    if ((await page.locator('#batch').inputValue()) !== '1000') fail('the batch is lost');
    await page.goBack();
    await wait(page, /^Use cocoa/);
  });

  await once('a token is entered when the server needs one', async () => {
    const page = await open();
    await page.route('**/v1/**', async (route) => {
      if (route.request().headers().authorization === 'Bearer secret') return route.continue();
      return route.fulfill({ status: 401, contentType: 'application/problem+json', json: { title: 'unauthorized', status: 401, detail: 'a token is needed' } });
    });
    await page.reload();
    await page.getByLabel('This server needs a token:').fill('secret');
    await page.keyboard.press('Enter');
    await wait(page, /^Use 16 × p5/);
  });

  await once('a server that does not respond is reported', async () => {
    const page = await open();
    await wait(page, /^Use 16 × p5/);
    await page.route('**/v1/plan', (route) => route.abort());
    await page.locator('#batch').fill('100');
    await page.getByRole('alert').filter({ hasText: 'The server does not respond.' }).waitFor();
    page.complaints.length = 0;
  });
}

export async function viewTests(tools) {
  readFileSync('examples/mnist-traces.csv.gz'); // This fails early when the tests are not run from the root of the project.
  await algorithmTests(tools);
  await runsTests(tools);
  await recommendTests(tools);
  await storedTracesTest(tools);
  await importTests(tools);
  await frameTests(tools);
}
