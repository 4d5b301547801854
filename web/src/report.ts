// The answer as one HTML file that needs no other file: to send, to print, to keep. Pure functions.
import { chartSvg } from './chart_svg';
import type { Spec } from './chart_spec';
import { money, percent, time } from './format';
import { choices, headline, machinesText, planFacts } from './plan_answer';
import type { Plan } from './types.gen';

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:right}
th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto}pre{background:#f4f5f7;padding:1rem;overflow:auto}
dt{color:#555e69}dl div{display:grid;grid-template-columns:10rem 1fr;gap:.75rem}dd{margin:0}`;

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[], tag: string) => '<tr>' + cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('') + '</tr>';
  return `<table><thead>${line(head, 'th')}</thead><tbody>${rows.map((row) => line(row, 'td')).join('')}</tbody></table>`;
}

/** The report of an answer; `question` is the request as JSON, and `address` the link to the page. */
export function report(plan: Plan, specs: Spec[], question: string, address: string): string {
  const whole = plan.total_of === 'job';
  const made = choices(plan).map(({ name, point }) => {
    const scale = whole ? point.total_s / point.time_s : 1;
    const sure = point.low_s === null || point.high_s === null ? '–' : `${time(point.low_s * scale)} to ${time(point.high_s * scale)}`;
    return [name, machinesText(plan, point), time(whole ? point.total_s : point.time_s), money(point.cost), sure];
  });
  const curve = plan.curve.map((p) => [String(p.n), time(p.time_s), p.speedup.toFixed(2), percent(p.efficiency), time(p.total_s), money(p.cost), p.fits ? 'yes' : 'no']);
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(headline(plan))}</title><style>${style}</style></head><body>`,
    `<h1>${escaped(headline(plan))}</h1>`,
    made.length ? '<h2>Choices</h2>' + table(['', 'what to rent', whole ? 'time' : 'iteration', 'cost', `${percent(plan.level)} interval`], made) : '',
    '<h2>Why</h2><dl>' + planFacts(plan).map((fact) => `<div><dt>${escaped(fact.name)}</dt><dd>${escaped(fact.text)}</dd></div>`).join('') + '</dl>',
    plan.notes.length ? '<ul>' + plan.notes.map((note) => `<li>${escaped(note)}</li>`).join('') + '</ul>' : '',
    ...specs.map((spec) => `<h2>${escaped(spec.title)}</h2><p>${escaped(spec.summary)}</p>${chartSvg(spec)}`),
    '<h2>Every number of workers</h2>' + table(['workers', 'iteration', 'speedup', 'efficiency', 'total', 'cost', 'fits'], curve),
    `<h2>The question</h2><pre>${escaped(question)}</pre>`,
    `<p><a href="${escaped(address)}">The same on the page</a>. Made by howmany ${escaped(plan.howmany)}.</p>`,
    '</body></html>',
  ].join('\n') + '\n';
}
