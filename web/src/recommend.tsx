// Recommend: a batch and a latency in, workers out, with the runs behind it.
import { hasNoStore, useAnswer } from './api';
import { Chart } from './chart';
import type { Spec } from './chart_spec';
import { money, percent, plain, time, timeUnit, toCsv, workers, type Row } from './format';
import type { Values } from './link';
import { capital, Download, Field, Select, Table, useCalm, Wrong, type Column } from './ui';

interface Candidate {
  n: number;
  time_s: number | null;
  low_s: number | null;
  high_s: number | null;
  cost: number | null;
  rows: number;
  fits: boolean;
  failed: boolean;
  why: string | null;
}

export interface Recommendation {
  way: 'rows' | 'fit' | 'model' | 'none';
  reason: string | null;
  best: number | null;
  sure: number | null;
  missed: string | null;
  candidates: Candidate[];
  next: Record<string, number> | null;
  next_why: string | null;
  notes: string[];
}

const ways: Record<string, string> = {
  rows: 'runs that match exactly',
  fit: 'a fit of the runs around it',
  model: 'the model of the job',
  none: 'nothing yet',
};

export function recommendPath(values: Values): string {
  const query = new URLSearchParams();
  if (values.batch) query.set('batch', values.batch);
  if (values.latency) query.set('latency', values.latency + 'ms');
  if (values.price) query.set('price', '$' + values.price + '/h');
  for (const key of ['algorithm', 'machine', 'goal', 'deadline', 'budget', 'n']) if (values[key]) query.set(key, values[key]);
  return 'v1/recommend?' + query.toString();
}

export function recommendLine(r: Recommendation): string {
  const best = r.best === null ? undefined : r.candidates[r.best];
  if (!best) return r.missed ? `Nothing meets the ${r.missed}.` : 'Cannot tell yet.';
  const interval = best.low_s === null ? '' : ` (${time(best.low_s)} to ${time(best.high_s)})`;
  return `Use ${workers(best.n)}: ${time(best.time_s)}${interval}` + (best.cost === null ? '.' : `, for ${money(best.cost)}.`);
}

export function recommendSpec(r: Recommendation): Spec | null {
  const known = r.candidates.filter((c) => c.time_s !== null).sort((a, b) => a.n - b.n);
  if (known.length < 2) return null;
  const unit = timeUnit(Math.max(...known.map((c) => c.high_s ?? (c.time_s as number))));
  const scaled = (value: number | null) => (value === null ? null : value / unit.size);
  const best = r.best === null ? undefined : r.candidates[r.best];
  const lines: Spec['lines'] = [{ label: 'time', values: known.map((c) => scaled(c.time_s)), colour: 1 }];
  if (known.some((c) => c.low_s !== null))
    lines.push({ label: 'from', values: known.map((c) => scaled(c.low_s)), colour: 5, dashed: true }, { label: 'to', values: known.map((c) => scaled(c.high_s)), colour: 5, dashed: true });
  return {
    title: 'Time by workers',
    xLabel: 'workers',
    yLabel: 'time, ' + unit.name,
    x: known.map((c) => c.n),
    xText: (v) => (Number.isInteger(v) ? String(v) : ''),
    yText: (v) => plain(v, 4),
    lines,
    marks: best && best.time_s !== null ? [{ x: best.n, y: best.time_s / unit.size, label: `best ${best.n}`, colour: 2, under: true }] : [],
    told: best ? `Least with ${workers(best.n)}.` : 'Nothing is recommended.',
  };
}

const columns: Column[] = [
  { key: 'n', label: 'workers', number: true },
  { key: 'time_s', label: 'time', text: time, number: true },
  { key: 'low_s', label: 'from', text: time, number: true },
  { key: 'high_s', label: 'to', text: time, number: true },
  { key: 'cost', label: 'cost', text: money, number: true },
  { key: 'rows', label: 'runs', number: true },
  { key: 'why', label: 'note', text: (why: string | null, row: Row) => why ?? (row.fits === false ? 'over the limit' : '') },
];

const runColumns: Column[] = [
  { key: 'n', label: 'workers', number: true },
  { key: 'batch', label: 'batch', number: true },
  { key: 'latency', label: 'latency', text: time, number: true },
  { key: 'seconds', label: 'time', text: time, number: true },
  { key: 'status', label: 'status' },
  { key: 'algorithm', label: 'algorithm' },
  { key: 'machine', label: 'machine' },
];

function Behind({ values }: { values: Values }) {
  const query = new URLSearchParams({ limit: '50', sort: 'n' });
  if (values.batch) query.append('where', 'batch=' + values.batch);
  if (values.latency) query.append('where', 'latency=' + values.latency + 'ms');
  const runs = useAnswer<{ runs: Row[] }>({ path: 'v1/runs?' + query.toString() }, 0, 200);
  const rows = runs.value?.runs ?? [];
  return (
    <section class="card">
      <h2>Runs behind it</h2>
      {rows.length ? <Table name="runs behind it" columns={runColumns} rows={rows} /> : <p class="soft">No run has just this batch and latency: it is told from others.</p>}
    </section>
  );
}

function Told({ r }: { r: Recommendation }) {
  const line = recommendLine(r);
  const calm = useCalm(line, 400);
  const facts: [string, string][] = [['From', ways[r.way] ?? r.way]];
  if (r.reason) facts.push(['Why', r.reason]);
  if (r.sure !== null) facts.push(['How sure', `the best with ${percent(r.sure)}`]);
  for (const c of r.candidates.filter((c) => c.failed)) facts.push(['Fails', `${workers(c.n)}: ${c.why ?? 'failed before'}`]);
  if (r.next) {
    const at = Object.entries(r.next).filter(([key]) => key !== 'n').map(([key, v]) => `${key} ${key === 'latency' ? time(v) : plain(v, 6)}`).join(', ');
    facts.push(['Would help', `a run of ${workers(r.next.n ?? 1)}${at ? ' with ' + at : ''}` + (r.next_why ? ': ' + r.next_why : '')]);
  }
  return (
    <section class="card answer" aria-label="The recommendation">
      <p class="headline" data-test="headline">{line}</p>
      <p class="hidden" role="status">{calm}</p>
      <dl>{facts.map(([name, text], i) => <div key={i}><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
      {r.notes.length ? <ul class="notes">{r.notes.map((note) => <li key={note}>{capital(note)}</li>)}</ul> : null}
    </section>
  );
}

export function RecommendView({ values, onChange }: { values: Values; onChange: (changes: Values) => void }) {
  const asked = values.batch || values.latency;
  const answer = useAnswer<Recommendation>({ path: asked ? recommendPath(values) : 'v1/runs?limit=1' }, 0, 250);
  const r = asked && answer.value?.candidates ? answer.value : null;
  const noStore = hasNoStore(answer.problem);
  const spec = r ? recommendSpec(r) : null;
  return (
    <div class="view">
      <div class="controls">
        <fieldset class="card">
          <legend>Where you are</legend>
          <div class="fields">
            <Field id="rec-batch" label="Batch" placeholder="64000" value={values.batch ?? ''} onChange={(batch) => onChange({ batch })} />
            <Field id="rec-latency" label="Latency, ms" placeholder="20" value={values.latency ?? ''} onChange={(latency) => onChange({ latency })} />
            <Field id="rec-algorithm" label="Algorithm" placeholder="any" value={values.algorithm ?? ''} onChange={(algorithm) => onChange({ algorithm })} />
            <Field id="rec-machine" label="Machine" placeholder="any" value={values.machine ?? ''} onChange={(machine) => onChange({ machine })} />
            <Field id="rec-n" label="Workers to choose from" placeholder="1..8" value={values.n ?? ''} onChange={(n) => onChange({ n })} />
            <Field id="rec-price" label="Price of a worker, $/h" placeholder="0.5" value={values.price ?? ''} onChange={(price) => onChange({ price })} />
            <Field id="rec-deadline" label="Deadline" placeholder="10 min" value={values.deadline ?? ''} onChange={(deadline) => onChange({ deadline })} />
            <Select id="rec-goal" label="What counts" value={values.goal ?? ''} onChange={(goal) => onChange({ goal })}>
              <option value="">decide for me</option>
              <option value="time">least time</option>
              <option value="cost">least cost</option>
              <option value="balance">both alike</option>
            </Select>
          </div>
        </fieldset>
      </div>
      <div class={'results' + (answer.busy ? ' busy' : '')} aria-busy={answer.busy}>
        {noStore ? <p class="card" data-test="no-store">This server keeps no runs, so it cannot recommend from them. Start it with <code>howmany serve --record FILE</code>.</p> : null}
        {answer.problem && !noStore ? <Wrong problem={answer.problem} /> : null}
        {!asked && !answer.problem ? <p class="card soft">Say a batch or a latency.</p> : null}
        {r ? <Told r={r} /> : null}
        {spec && r ? <Chart spec={spec} columns={columns} rows={r.candidates as unknown as Row[]} file="recommend" /> : null}
        {r ? (
          <section class="card">
            <h2>All candidates</h2>
            <Table name="candidates" columns={columns} rows={r.candidates as unknown as Row[]} mark={(row) => (r.best !== null && row === (r.candidates[r.best] as unknown) ? 'best' : undefined)} />
            <p class="row">
              <Download name="recommend.json" type="application/json" label="JSON" of="the recommendation" text={() => JSON.stringify(r, null, 2) + '\n'} />
              <Download name="recommend.csv" type="text/csv" label="CSV" of="the candidates" text={() => toCsv(Object.keys(r.candidates[0] ?? {}), r.candidates as unknown as Row[])} />
            </p>
          </section>
        ) : null}
        {r ? <Behind values={values} /> : null}
      </div>
    </div>
  );
}
