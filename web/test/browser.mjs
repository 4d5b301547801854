// Tests of the page in Chromium: browser.mjs ADDRESS,ADDRESS,ADDRESS BARE FOLDER [ONLY] prints a line "ok - NAME" or
// "not ok - NAME" for each test, and with HM_TORTURE=1 writes screenshots into FOLDER. The addresses are those of servers with empty
// stores, one for each size of the screen; BARE is that of a server without a store. With ONLY, tests whose name does
// not contain this text are left out.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { planTests } from './browser_plan.mjs';
import { sizeTests } from './browser_sizes.mjs';
import { viewTests } from './browser_views.mjs';

const [addresses, bare, folder, only] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const profile = mkdtempSync(join(tmpdir(), 'howmany-page-'));
mkdirSync(folder, { recursive: true });

const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  headless: true,
  acceptDownloads: true,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  timeout: 30000,
});
context.setDefaultTimeout(8000);

const wide = { width: 1280, height: 900 };
const tablet = { width: 768, height: 1024 };
const phone = { width: 390, height: 844 };
const torture = process.env.HM_TORTURE === '1';
/**
 * Every flow is tested at each size, with a server and a colour scheme of its own. Without HM_TORTURE=1, only the first
 * pass is made; browser_sizes.mjs looks at every view in all sizes and in both schemes in any case.
 */
const passes = [
  { size: wide, scheme: 'light' },
  { size: tablet, scheme: 'dark' },
  { size: phone, scheme: 'light' },
]
  .map((pass, i) => ({ ...pass, address: addresses.split(',')[i], first: i === 0 }))
  .filter((pass) => pass.first || torture);
let now = passes[0];
let failed = 0;

/** Opens a new page; errors in its console are collected in page.complaints. */
async function open(hash = '', { size = now.size, scheme = now.scheme, at = now.address } = {}) {
  const page = await context.newPage();
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (4|5)\d\d/.test(message.text())) page.complaints.push(message.text());
  });
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await page.goto(at + '/' + hash);
  return page;
}

function fail(text) {
  throw new Error(text);
}

/**
 * Takes a screenshot with HM_TORTURE=1, and fails when the page is wider than the screen or violates a rule of accessibility. The rules
 * are checked for every view (browser_sizes.mjs), and otherwise once for each content: `again` says
 * that they were.
 */
async function look(page, name, again = false) {
  const wideness = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (now.first && torture) await page.screenshot({ path: join(folder, name + '.png'), fullPage: true });
  if (wideness > 0) fail(`${name}: ${wideness} pixels wider than the screen`);
  if (again || !now.first) return;
  await rules(page, name);
}

/** Fails when the page violates a rule of accessibility. */
async function rules(page, name) {
  // The content security policy does not apply to scripts that the debugger runs.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  if (violations.length)
    fail(name + ': ' + violations.map((v) => `${v.id} (${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join('; ')})`).join(', '));
}

async function test(what, work) {
  const name = now.first ? what : `${what} (${now.size.width} pixels, ${now.scheme})`;
  if (only && !name.includes(only)) return;
  const before = context.pages();
  let line = 'ok - ' + name;
  try {
    await work();
    const complaints = context.pages().flatMap((page) => page.complaints ?? []);
    if (complaints.length) fail(complaints.join('\n'));
  } catch (error) {
    failed++;
    line = `# ${String(error.message ?? error).split('\n').slice(0, 12).join('\n# ')}\nnot ok - ${name}`;
  }
  console.log(line);
  for (const page of context.pages()) if (!before.includes(page)) await page.close();
}

/** A test whose result does not depend on the size of the screen. */
const once = (name, work) => (now.first ? test(name, work) : null);

const tools = { test, once, open, look, rules, fail, wide, tablet, phone, bare, torture };
try {
  for (now of passes) {
    await planTests({ ...tools, address: now.address });
    await viewTests(tools);
  }
  now = passes[0];
  await sizeTests(tools);
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
