// Tests of the view "How many?", the first one.
import { readFileSync } from 'node:fs';

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

export async function planTests({ test, open, look, fail, phone }) {
  await test('how many: the first page shows an answer with charts and tables', async () => {
    const page = await open();
    await headlineIs(page, /^Use 16 × p4d\.24xlarge \(128 workers\): 14\.4 h, \$5,059/);
    for (const name of ['Speedup', 'Cost of the whole job', 'Time of an iteration', 'Time against cost'])
      await page.getByRole('img', { name: new RegExp('^' + name) }).waitFor();
    await page.getByText('Table: speedup').click();
    const rows = await page.locator('figure').first().locator('tbody tr').count();
    if (rows < 10) fail(`the table has ${rows} rows`);
    await look(page, 'plan-wide-light');
  });

  await test('how many: on a phone, in the dark', async () => {
    const page = await open('', { size: phone, scheme: 'dark' });
    await headlineIs(page, /^Use 16 × p4d/);
    await page.locator('.uplot canvas').first().waitFor();
    await look(page, 'plan-phone-dark');
    await page.setViewportSize({ width: 320, height: 640 });
    await look(page, 'plan-narrow-dark');
  });

  await test('how many: wide in the dark, a phone in the light', async () => {
    const page = await open('', { scheme: 'dark' });
    await headlineIs(page, /^Use 16 × p4d/);
    await look(page, 'plan-wide-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(phone);
    await look(page, 'plan-phone-light');
  });

  await test('how many: the keyboard moves a slider, and the answer follows', async () => {
    const page = await open();
    const before = await headlineIs(page, /^Use/);
    await tabTo(page, '.skip');
    await tabTo(page, '#set-bandwidth');
    const number = page.locator('#set-bandwidth-number');
    const first = await number.inputValue();
    for (let i = 0; i < 6; i++) await page.keyboard.press('PageDown');
    await page.waitForFunction((old) => document.querySelector('[data-test=headline]').textContent !== old, before);
    if ((await number.inputValue()) === first) fail('the number does not follow the slider');
    if (!(await page.locator('#set-bandwidth').getAttribute('aria-valuetext')).endsWith('Gbit/s')) fail('no unit is read aloud');
    await tabTo(page, 'button.plain');
    await page.keyboard.press('Enter');
    await headlineIs(page, before);
    if ((await number.inputValue()) !== first) fail('reset does not restore the value of the job');
  });

  await test('how many: curves follow while a slider is dragged', async () => {
    const page = await open();
    await headlineIs(page, /^Use/);
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

  await test('how many: the last answer wins', async () => {
    const page = await open();
    await headlineIs(page, /^Use 16 × p4d/);
    let number = 0;
    await page.route('**/v1/plan', async (route) => {
      const wait = number++ === 0 ? 1500 : 0;
      const response = await route.fetch();
      await new Promise((done) => setTimeout(done, wait));
      await route.fulfill({ response }).catch(() => {});
    });
    await page.locator('#set-batch-number').fill('64');
    await page.waitForTimeout(200);
    await page.locator('#set-batch-number').fill('4096');
    const last = await headlineIs(page, /^Use 16 × p4d\.24xlarge \(128 workers\): 3\.79 days/);
    await page.waitForTimeout(1600);
    if ((await headline(page).textContent()) !== last) fail('an old answer came after the new one');
  });

  await test('how many: machines are found, chosen and compared', async () => {
    const page = await open();
    await page.getByText('Choose others').click();
    await page.getByLabel('Find').fill('h100 8x');
    await page.getByRole('checkbox', { name: /^p5\.48xlarge/ }).check();
    await page.getByLabel('Find').fill('p4d');
    await page.getByRole('checkbox', { name: /^p4d\./ }).check();
    const table = page.getByRole('region', { name: 'Table: machines compared' });
    await table.getByText('p4d.24xlarge').waitFor();
    if ((await table.locator('tbody tr').count()) !== 2) fail('not two rows');
    await page.getByRole('button', { name: 'Use the job’s own' }).click();
    await table.waitFor({ state: 'detached' });
  });

  await test('how many: a job that is typed in, and an error in it', async () => {
    const page = await open();
    await page.getByText('Edit the job, or paste another').click();
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
    const input = page.getByLabel('Most workers');
    await input.fill('many');
    await problemAt(page, input, /'many' is not a number/);
    await look(page, 'plan-wrong-field');
    await page.getByRole('button', { name: 'Go to “Most workers”' }).click();
    if (!(await input.evaluate((e) => e === document.activeElement))) fail('the focus is not at the input');
    await input.fill('64');
    await headlineIs(page, /^Use/);
    if (await page.locator('[aria-invalid], .invalid').count()) fail('a right value is still marked as wrong');
    const bandwidth = page.locator('#set-bandwidth-number');
    await bandwidth.fill('0');
    await problemAt(page, bandwidth, /'0 Gbit\/s' is out of range/);
    await look(page, 'plan-wrong-slider');
  });

  await test('how many: a machine that is not in the catalog is reported at the machines', async () => {
    const page = await open('#plan?on=p4d');
    await problemAt(page, page.getByLabel('Find'), /no machine 'p4d' in the catalog\. Did you mean p4d\.24xlarge\?/i);
  });

  await test('how many: a network of the catalog, and a deadline that cannot be met', async () => {
    const page = await open();
    await page.locator('#job').selectOption('net:resnet-50');
    await headlineIs(page, /^Use \d+ × p4d/);
    await page.getByText('Goal, deadline and budget').click();
    await page.getByLabel('Deadline').fill('1 s');
    await headlineIs(page, 'No number of workers meets the deadline with a probability of 90 %.');
    await page.getByLabel('Deadline').fill('');
    await headlineIs(page, /^Use/);
  });

  await test('how many: a link gives the same view again', async () => {
    const page = await open();
    await headlineIs(page, /^Use 16 × p4d/);
    await page.locator('#set-price-number').fill('10');
    await page.locator('#set-batch-number').fill('1000');
    await page.waitForFunction(() => location.hash.includes('batch=1000'));
    const wanted = await headlineIs(page, /^Use 16 × p4d\.24xlarge \(128 workers\): 25\.3 h, \$4,044/);
    const again = await open(await page.evaluate(() => location.hash));
    if ((await headlineIs(again, /^Use 16 × p4d\.24xlarge \(128 workers\): 25\.3 h, \$4,044/)) !== wanted) fail('another answer');
    if ((await again.locator('#set-price-number').inputValue()) !== '10') fail('the price is lost');
    await again.getByRole('button', { name: 'Copy link to this view' }).click();
    await again.getByText(/^Cop(ied|y it from here)/).waitFor();
  });

  await test('how many: downloads have the data of the page', async () => {
    const page = await open();
    await headlineIs(page, /^Use 16 × p4d/);
    const fetched = async (name) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return readFileSync(await download.path(), 'utf8');
    };
    const plan = JSON.parse(await fetched('Download the answer as JSON'));
    if (plan.recommended.n !== 128) fail('another answer in the JSON');
    const csv = await fetched('Download the curve as CSV');
    if (!csv.startsWith('n,nodes,time_s,low_s') || csv.trim().split('\n').length !== plan.curve.length + 1) fail('the CSV is not the curve');
    const svg = await fetched('Download Speedup as SVG');
    if (!svg.startsWith('<svg') || !svg.includes('recommended 128') || svg.includes('NaN')) fail('the SVG is wrong');
  });
}
