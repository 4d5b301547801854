// Every view at every size and in both colour schemes: nothing is cut, and no rule of accessibility is violated. Without
// HM_TORTURE=1 the rules are checked on the widest screen in light colours and on the narrowest in dark ones, so that each
// scheme and each extreme layout is checked once. The store has the runs of the earlier tests. The last test watches
// commands that run on this machine.
import { spawn } from 'node:child_process';

const views = {
  plan: { hash: '', ready: '[data-test=headline]' },
  'plan of a large network': { hash: '#plan?job=net%3Allama-3-8b&tokens=100B&on=p5.48xlarge%2Cp4d.24xlarge&nodes=16', ready: '[data-test=headline]' },
  recommend: { hash: '#recommend?batch=12800&latency=30', ready: '[data-test=headline]' },
  runs: { hash: '#runs?where=batch%3E0', ready: '[aria-label="Table: runs"] tbody tr' },
  algorithm: { hash: '#algorithm', ready: '[data-test=headline]' },
};

async function everySize({ test, open, look, rules, wide, tablet, phone, torture }) {
  for (const [name, { hash, ready }] of Object.entries(views))
    await test(`${name}: no rule of accessibility is violated on wide and narrow screens, in light and dark colours`, async () => {
      const page = await open(hash);
      await page.locator(ready).first().waitFor();
      await page.locator('.uplot canvas').first().waitFor();
      for (const scheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        for (const size of [wide, tablet, phone]) {
          await page.setViewportSize(size);
          await look(page, `size-${name.replace(/ .*/, name.includes(' ') ? '-large' : '')}-${size.width}-${scheme}`, true);
          if (torture || (size === wide && scheme === 'light') || (size === phone && scheme === 'dark'))
            await rules(page, `${name} at ${size.width} pixels, ${scheme}`);
        }
      }
    });
}

async function running({ test, open, look }) {
  await test('runs: a bench that runs on this machine is shown with its progress, until it ends', async () => {
    const page = await open('#runs');
    const card = page.getByRole('region', { name: 'Running now' });
    const bench = spawn('howmany', ['bench', 'sleep 0.{n}', '-n', '1,2,3', '--repeat', '90'], { stdio: 'ignore' });
    await card.getByText("sleep '0.{n}'").waitFor();
    await card.getByRole('progressbar', { name: 'Progress of bench' }).waitFor();
    await card.locator('[data-test=task-line]').filter({ hasText: /^n = [123], run \d+ · running for/ }).waitFor();
    await card.getByRole('region', { name: 'Table: the latest measurements of bench' }).locator('tbody tr').first().waitFor();
    await look(page, 'runs-running');
    bench.kill('SIGKILL');
    await card.waitFor({ state: 'detached' });
  });
}

export async function sizeTests(tools) {
  await everySize(tools);
  await running(tools);
}
