// Tests of the view "How many?", the first one.
import { existsSync, readFileSync } from 'node:fs';

const headline = (page) => page.locator('[data-test=headline]');

async function headlineIs(page, pattern) {
  await headline(page).filter({ hasText: pattern }).waitFor();
  return headline(page).textContent();
}

/** Waits until an input is marked as wrong, and its description is a message that matches the pattern. */
export async function problemAt(page, input, pattern) {
  const described = () => input.evaluate((e) => (e.getAttribute('aria-invalid') === 'true' ? (e.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ') : ''));
  const until = Date.now() + 8000;
  while (!pattern.test(await described())) {
    if (Date.now() > until) throw new Error(`no message ${pattern} at the input, but '${await described()}'`);
    await page.waitForTimeout(50);
  }
  if ((await page.locator('[aria-invalid=true]').count()) !== 1) throw new Error('more than one input is marked as wrong');
}

/** Presses Tab until an element that matches the selector has the focus; returns the number of presses. */
export async function tabTo(page, selector, most = 60) {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((s) => document.activeElement?.matches(s), selector)) return i + 1;
  }
  throw new Error('Tab does not reach ' + selector);
}

/** Opens the section of the sliders, which is closed on narrow screens. */
async function unfold(page) {
  const section = page.locator('details', { has: page.locator('#set-bandwidth') });
  if (!(await section.evaluate((e) => e.open))) await section.locator('summary').press('Enter');
}

const first = /^Use 16 × p5\.48xlarge \(128 workers\): 7\.64 h, \$6,732/;
/** A job whose machines and links are those of the test, not of the catalog. */
const gpt2 = '#plan?job=ex%3Agpt2';

export async function planTests(tools) {
  const { test, once, open, look, fail, address } = tools;
  await formTests(tools);
  await compareTests(tools);
  await once('how many: the first answer comes within a second of opening', async () => {
    const page = await open('#runs');
    const times = [];
    // Other programs may use the processors at the same moment, so the best of four counts.
    for (let i = 0; i < 4; i++) {
      await page.goto(address + '/?again=' + i + '#plan');
      await headlineIs(page, first);
      times.push(await page.evaluate(() => performance.getEntriesByType('mark').find((m) => m.name === 'answer')?.startTime ?? Infinity));
    }
    console.log('# the first answer came after ' + times.map(Math.round).join(', ') + ' ms');
    if (Math.min(...times) > 1000) fail('it took longer');
  });

  await once('how many: the first page shows an answer with charts and tables', async () => {
    const page = await open();
    await headlineIs(page, first);
    const cards = page.getByRole('list', { name: 'Choices' }).getByRole('listitem');
    const texts = await cards.allTextContents();
    if (texts.length !== 2 || !/^Cheapest.*1 × p4d\.24xlarge.*7\.98 days.*\$4,208.*6\.04 days to 11\.1 days \(90 %\)/.test(texts[0])) fail('another cheapest choice: ' + texts);
    if (!/^Balanced and fastest ?recommended.*16 × p5.*7\.64 h/.test(texts[1])) fail('another fastest choice: ' + texts);
    for (const name of ['Machines: time against cost', 'Speedup', 'Cost of the whole job', 'Time of an iteration', 'Time against cost'])
      await page.getByRole('img', { name: new RegExp('^' + name) }).waitFor();
    await page.getByText('Table: speedup').click();
    const rows = await page.locator('figure', { hasText: 'Table: speedup' }).locator('tbody tr').count();
    if (rows < 10) fail(`the table has ${rows} rows`);
  });

  await once('how many: on a very narrow screen', async () => {
    const page = await open('', { size: { width: 320, height: 640 }, scheme: 'dark' });
    await headlineIs(page, first);
    await page.locator('.uplot canvas').first().waitFor();
    await look(page, 'plan-narrow-dark', true);
  });

  await test('how many: the keyboard moves a slider, and the answer follows', async () => {
    const page = await open(gpt2);
    const before = await headlineIs(page, /^Use/);
    await unfold(page);
    await page.evaluate(() => document.activeElement.blur());
    await tabTo(page, '.skip');
    await tabTo(page, '#set-bandwidth');
    const number = page.locator('#set-bandwidth-number');
    const first = await number.inputValue();
    for (let i = 0; i < 6; i++) await page.keyboard.press('PageDown');
    await page.waitForFunction((old) => document.querySelector('[data-test=headline]').textContent !== old, before);
    if ((await number.inputValue()) === first) fail('the number does not follow the slider');
    if (!(await page.locator('#set-bandwidth').getAttribute('aria-valuetext')).endsWith('Gbit/s')) fail('no unit is read aloud');
    await tabTo(page, '.below button.plain');
    await page.keyboard.press('Enter');
    await headlineIs(page, before);
    if ((await number.inputValue()) !== first) fail('reset does not restore the value of the job');
  });

  await test('how many: curves follow while a slider is dragged', async () => {
    const page = await open(gpt2);
    await headlineIs(page, /^Use/);
    await unfold(page);
    await page.locator('#set-latency').scrollIntoViewIfNeeded();
    const slider = await page.locator('#set-latency').boundingBox();
    const y = slider.y + slider.height / 2;
    const seen = new Set();
    await page.mouse.move(slider.x + slider.width * 0.3, y);
    await page.mouse.down();
    for (let i = 0; i <= 10; i++) {
      await page.mouse.move(slider.x + slider.width * (0.3 + 0.06 * i), y);
      await page.waitForTimeout(120);
      seen.add(await headline(page).textContent());
    }
    await page.mouse.up();
    if (seen.size < 4) fail(`${seen.size} answers while dragging`);
  });

  await once('how many: the last answer wins', async () => {
    const page = await open(gpt2);
    await headlineIs(page, /^Use 16 × p4d/);
    let number = 0;
    await page.route('**/v1/plan', async (route) => {
      const wait = number++ === 0 ? 1500 : 0;
      const response = await route.fetch();
      await new Promise((done) => setTimeout(done, wait));
      await route.fulfill({ response }).catch(() => {});
    });
    await page.locator('#batch').fill('64');
    await page.waitForTimeout(200);
    await page.locator('#batch').fill('4096');
    const last = await headlineIs(page, /^Use 16 × p4d\.24xlarge \(128 workers\): 4\.57 days/);
    await page.waitForTimeout(1600);
    if ((await headline(page).textContent()) !== last) fail('an old answer came after the new one');
  });

  await test('how many: a job that is typed in, and an error in it', async () => {
    const page = await open();
    await page.getByText('Examples, layers and formulas').click();
    const text = page.getByLabel('YAML of the job');
    await text.fill('compute: 10/n\ncommunicate: 0.5*log2(n)\ncluster: {max_nodes: 64}\n');
    await headlineIs(page, 'Use 9 workers: 2.70 s an iteration, 3.71× as fast as one.');
    if (!(await page.locator('#set-bandwidth').isDisabled())) fail('a slider without an effect can be moved');
    await text.fill('compute: 10/n\ncommunicat: 0.5*log2(n)\n');
    await page.getByRole('alert').filter({ hasText: 'communicat' }).waitFor();
    await page.getByRole('alert').filter({ hasText: 'communicate' }).waitFor();
    await problemAt(page, text, /^Line 2, communicat: unknown key 'communicat'\. Did you mean communicate\?$/);
    await look(page, 'plan-wrong');
  });

  await test('how many: a wrong value is shown at its input', async () => {
    const page = await open('#plan?max_n=64');
    await headlineIs(page, /^Use/);
    const input = page.getByLabel('Workers, at most');
    await input.fill('many');
    await problemAt(page, input, /'many' is not a number/);
    await look(page, 'plan-wrong-field');
    await page.getByRole('button', { name: 'Go to “Workers, at most”' }).click();
    if (!(await input.evaluate((e) => e === document.activeElement))) fail('the focus is not at the input');
    await input.fill('64');
    await page.waitForFunction(() => !document.querySelector('[aria-invalid], .invalid'));
    await unfold(page);
    const bandwidth = page.locator('#set-bandwidth-number');
    await bandwidth.fill('0');
    await problemAt(page, bandwidth, /'0 Gbit\/s' is out of range/);
    await look(page, 'plan-wrong-slider', true);
  });

  await once('how many: a machine that is not in the catalog is reported at the machines', async () => {
    const page = await open('#plan?on=p4d');
    await problemAt(page, page.getByLabel('Find'), /no machine 'p4d' in the catalog\. Did you mean p4d\.24xlarge\?/i);
  });

  await test('how many: a deadline that cannot be met', async () => {
    const page = await open('#plan?job=net%3Aresnet-50&on=p4d.24xlarge');
    await headlineIs(page, /^Use \d+ × p4d/);
    await page.getByLabel('Deadline').fill('1 s');
    await headlineIs(page, 'No number of workers meets the deadline with a probability of 90 %.');
    if (await page.getByRole('list', { name: 'Choices' }).count()) fail('there are choices that miss the deadline');
    await page.getByLabel('Deadline').fill('');
    await headlineIs(page, /^Use/);
    if (!(await page.getByLabel('Deadline').evaluate((e) => e === document.activeElement))) fail('clearing the deadline loses the focus');
  });

  await once('how many: a link gives the same view again', async () => {
    const page = await open(gpt2);
    await headlineIs(page, /^Use 16 × p4d/);
    await page.locator('#set-price-number').fill('10');
    await page.locator('#batch').fill('1000');
    await page.waitForFunction(() => location.hash.includes('batch=1000'));
    const wanted = await headlineIs(page, /^Use 16 × p4d\.24xlarge \(128 workers\): 31\.5 h, \$5,042/);
    const again = await open(await page.evaluate(() => location.hash));
    if ((await headlineIs(again, /^Use 16 × p4d\.24xlarge \(128 workers\): 31\.5 h, \$5,042/)) !== wanted) fail('another answer');
    if ((await again.locator('#set-price-number').inputValue()) !== '10') fail('the price is lost');
    await again.getByRole('button', { name: 'Copy link to this view' }).click();
    await again.getByText(/^Cop(ied|y it from here)/).waitFor();
  });

  await once('how many: downloads have the data of the page', async () => {
    const page = await open(gpt2);
    await headlineIs(page, /^Use 16 × p4d/);
    const fetched = async (name) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return readFileSync(await download.path(), 'utf8');
    };
    const plan = JSON.parse(await fetched('Download the answer as JSON'));
    if (plan.recommended.n !== 128) fail('another answer in the JSON');
    const csv = await fetched('Download the curve as CSV');
    if (!csv.startsWith('n,nodes,time_s,low_s') || csv.trim().split('\n').length !== plan.curve.length + 1) fail('the CSV is not the curve');
    const html = await fetched('Download everything, one HTML file, as Report');
    if (!html.startsWith('<!doctype html>') || !html.includes('Use 16 × p4d.24xlarge') || (html.match(/<svg/g) ?? []).length < 4 || /<script|NaN|undefined/.test(html)) fail('the report is wrong');
    const svg = await fetched('Download Speedup as SVG');
    if (!svg.startsWith('<svg') || !svg.includes('recommended 128') || svg.includes('NaN')) fail('the SVG is wrong');
  });
}

/** Inputs of the view: the model by name, by file, the work, the layout, and what happens while one types. */
async function formTests({ test, once, open, look, fail }) {
  await test('how many: a model by name, its work and its layout', async () => {
    const page = await open();
    await headlineIs(page, first);
    const model = page.getByLabel('Model', { exact: true });
    await model.fill('llama-3');
    await page.getByText('Names that contain it: llama-3').waitFor();
    await headlineIs(page, first); // The last answer stays while the name is incomplete.
    await model.fill('llama-3-8b');
    await headlineIs(page, /p5\.48xlarge/);
    if ((await page.getByLabel('Work', { exact: true }).inputValue()) !== '100B') fail('no usual amount of work');
    await page.getByLabel('Machines, at most').fill('16');
    await headlineIs(page, /^Use 16 × p5\.48xlarge \(128 workers\): 21\.\d h/);
    await page.getByLabel('Precision').selectOption('fp8');
    await page.getByLabel('Parallel layout').selectOption('own');
    const tensor = page.getByLabel('Tensor');
    await tensor.fill('3');
    await problemAt(page, tensor, /3 does not divide heads, which is 32/);
    await look(page, 'plan-layout-wrong');
    await tensor.fill('8');
    await page.waitForFunction(() => !document.querySelector('[aria-invalid]'));
    await page.getByLabel('Work', { exact: true }).fill('1T');
    await page.waitForFunction(() => location.hash.includes('tokens=1T') && location.hash.includes('tensor=8') && location.hash.includes('precision=fp8'));
    await headlineIs(page, /days/);
  });

  await test('how many: a config.json of Hugging Face is dropped on the page', async () => {
    const page = await open();
    await headlineIs(page, first);
    const text = readFileSync('examples/config-llama-3-8b.json', 'utf8');
    const data = await page.evaluateHandle((content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], 'config.json', { type: 'application/json' }));
      return transfer;
    }, text);
    await page.locator('.drop').first().dispatchEvent('drop', { dataTransfer: data });
    await page.getByText('config.json is a transformer.').waitFor();
    await headlineIs(page, /^Use \d+ × (p4d|p5)/);
    if (!(await page.getByLabel('YAML of the job').inputValue()).includes('kind: transformer')) fail('the network is not shown');
    await page.locator('#model-file').setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('{"a": 1}') });
    await page.getByText(/^x\.json: Has no format that can be imported/).waitFor();
    const model = (process.env.HOWMANY_DATA ?? '../shared/data') + '/formats/onnx/lenet_pytorch.onnx';
    if (!existsSync(model)) return console.log('# skipped an ONNX model: no ' + model);
    await page.locator('#model-file').setInputFiles(model);
    await page.getByText('lenet_pytorch.onnx is used.').waitFor();
    if (!(await page.getByLabel('YAML of the job').inputValue()).includes('dense: {units: 84, bias: true}')) fail('the model is damaged');
  });

  await test('how many: the last answer stays while a value is wrong, and clearing a number keeps it empty', async () => {
    const page = await open(gpt2);
    const line = await headlineIs(page, /^Use 16 × p4d/);
    await page.getByLabel('Batch').fill('many');
    await problemAt(page, page.getByLabel('Batch'), /'many' is not a number/);
    if ((await headline(page).textContent()) !== line) fail('the answer disappears');
    await page.getByLabel('Batch').fill('');
    await page.waitForFunction(() => !document.querySelector('[aria-invalid]'));
    await unfold(page);
    const number = page.locator('#set-bandwidth-number');
    await number.focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    if ((await number.inputValue()) !== '') fail('the number comes back while it is cleared');
    await page.keyboard.type('50');
    if ((await number.inputValue()) !== '50') fail('typing does not work');
    await page.waitForFunction(() => location.hash.includes('bandwidth=50'));
  });
}

/** What compares: machines, points under the mouse, tables, scenarios. */
async function compareTests({ test, once, open, look, fail }) {
  await test('how many: machines are found, chosen, compared and sorted', async () => {
    const page = await open(gpt2);
    await page.getByText('Choose machines').click();
    const catalog = page.getByRole('region', { name: 'Table: machines of the catalog' });
    await page.getByLabel('Find').fill('h100 8x');
    await page.getByRole('checkbox', { name: 'p5.48xlarge' }).check();
    await page.getByLabel('Find').fill('p4d');
    await page.getByRole('checkbox', { name: 'p4d.24xlarge' }).check();
    await page.getByLabel('Find').fill('');
    await page.getByLabel('Provider').selectOption('Lambda');
    if ((await catalog.locator('tbody tr', { hasText: 'Azure' }).count()) !== 0) fail('the provider does not filter');
    await catalog.getByRole('button', { name: /^price/ }).click();
    const prices = (await catalog.locator('tbody tr td:nth-child(6)').allTextContents()).map((text) => Number(text.replace(/[^0-9.]/g, '')));
    if (prices.length < 4 || prices.some((p, i) => i > 0 && p > prices[i - 1])) fail('the prices are not sorted: ' + prices);
    await page.getByLabel('Provider').selectOption('');
    const hiddenWidth = await catalog.evaluate((box) => box.scrollWidth - box.clientWidth);
    if (page.viewportSize().width >= 1280 && hiddenWidth > 0) fail(`${hiddenWidth} pixels of the machines are hidden`);
    const table = page.getByRole('region', { name: 'Table: machines compared' });
    await table.getByText('p4d.24xlarge').waitFor();
    if ((await table.locator('tbody tr').count()) !== 2) fail('not two rows');
    await page.getByRole('img', { name: /^Machines: time against cost/ }).waitFor();
    await look(page, 'plan-machines');
    await page.getByRole('button', { name: 'Use the job’s own' }).click();
    await table.waitFor({ state: 'detached' });
  });

  await once('how many: machines of a large network are compared too', async () => {
    const page = await open('#plan?job=net%3Allama-3-8b&tokens=100B&on=p5.48xlarge%2Cp4d.24xlarge&nodes=16');
    const table = page.getByRole('region', { name: 'Table: machines compared' });
    await table.getByText('p4d.24xlarge').waitFor();
    await page.getByRole('img', { name: /^Machines: time against cost/ }).waitFor();
    const speedup = await page.locator('figure', { hasText: 'Table: speedup' });
    await speedup.getByText('Table: speedup').click();
    const n = (await speedup.locator('tbody td:first-child').allTextContents()).map(Number);
    if (n.some((value, i) => i > 0 && value <= n[i - 1])) fail('the curve has points of several machines: ' + n);
  });

  await test('how many: the numbers under the mouse', async () => {
    const page = await open(gpt2);
    await headlineIs(page, /^Use 16 × p4d/);
    const chart = page.locator('figure', { hasText: 'Table: speedup' });
    await chart.locator('.u-over').hover();
    const tip = chart.locator('.tip');
    await tip.waitFor();
    if (!/^\d+ workers\nspeedup [\d.]+\nideal [\d.]+$/.test(await tip.textContent())) fail('the tip says ' + (await tip.textContent()));
    await page.mouse.move(5, 5);
    await tip.waitFor({ state: 'hidden' });
  });

  await test('how many: two scenarios side by side, also by a link', async () => {
    const page = await open(gpt2);
    await headlineIs(page, /^Use 16 × p4d/);
    await page.getByRole('button', { name: /^Keep this as scenario A/ }).click();
    await page.getByLabel('Machines, at most').fill('4');
    const table = page.getByRole('region', { name: 'Table: two scenarios' });
    await table.getByText('4 × p4d.24xlarge (32 workers)').waitFor();
    await table.getByText('16 × p4d.24xlarge (128 workers)').waitFor();
    await look(page, 'plan-scenarios');
    const again = await open(await page.evaluate(() => location.hash));
    await again.getByRole('region', { name: 'Table: two scenarios' }).getByText('4 × p4d.24xlarge (32 workers)').waitFor();
    await page.getByRole('button', { name: 'Exchange A and B' }).click();
    await headlineIs(page, /^Use 16 × p4d/);
    await page.getByRole('button', { name: 'Stop comparing' }).click();
    await table.waitFor({ state: 'detached' });
  });
}
