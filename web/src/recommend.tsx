// Recommend: a batch and a latency in, workers out, with the runs behind it.
import { hasNoStore, useAnswer } from './api';
import { Chart } from './chart';
import { money, percent, plain, time, toCsv, workers, type Row } from './format';
import type { Values } from './link';
import { onceEach, recommendLine, recommendPath, recommendSpec, runsLike, type Recommendation } from './recommend_data';
import { capital, Download, Field, Select, Table, useCalm, Wrong, type Column } from './ui';

const provenances: Record<string, string> = {
  rows: 'runs that match exactly',
  fit: 'a fit of the runs around it',
  model: 'the model of the job',
  none: 'nothing yet',
};

const columns: Column[] = [
  { key: 'n', label: 'workers', number: true },
  { key: 'time_s', label: 'time', text: time, number: true },
  { key: 'low_s', label: 'from', text: time, number: true },
  { key: 'high_s', label: 'to', text: time, number: true },
  { key: 'cost', label: 'cost', text: money, number: true },
  { key: 'row_count', label: 'runs', number: true },
  { key: 'why', label: 'note', text: (why: string | null, row: Row) => why ?? (row.feasible === false ? 'over the limit' : '') },
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

/** Runs that match exactly; else those of the same batch or latency; else some of all. */
function Behind({ values, exact }: { values: Values; exact: boolean }) {
  const same = useAnswer<{ runs: Row[] }>({ path: runsLike(values, exact ? 'both' : 'batch') }, 0, 200);
  const others = useAnswer<{ runs: Row[] }>(exact ? null : { path: runsLike(values, 'latency') }, 0, 200);
  const near = onceEach([...(same.value?.runs ?? []), ...(others.value?.runs ?? [])]);
  const far = !exact && !same.busy && !others.busy && !near.length;
  const some = useAnswer<{ runs: Row[] }>(far ? { path: runsLike(values, 'none') } : null, 0, 200);
  const rows = far ? (some.value?.runs ?? []) : near;
  const how = far ? 'None has the same batch or latency; these are some of those that the fit has learnt from.' : 'These have the same batch or the same latency; the fit has learnt from others too.';
  return (
    <section class="card">
      <h2>Runs behind it</h2>
      {exact ? null : <p class="soft">No run has just this. {how}</p>}
      {rows.length ? <Table name="runs behind it" columns={runColumns} rows={rows} /> : null}
    </section>
  );
}

function Told({ r }: { r: Recommendation }) {
  const line = recommendLine(r);
  const calm = useCalm(line, 400);
  const facts: [string, string][] = [['From', provenances[r.provenance] ?? r.provenance]];
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
            <Table name="candidates" columns={columns} rows={r.candidates as unknown as Row[]} mark={(row) => (row.n === r.best?.n ? 'best' : undefined)} />
            <p class="row">
              <Download name="recommend.json" type="application/json" label="JSON" of="the recommendation" text={() => JSON.stringify(r, null, 2) + '\n'} />
              <Download name="recommend.csv" type="text/csv" label="CSV" of="the candidates" text={() => toCsv(Object.keys(r.candidates[0] ?? {}), r.candidates as unknown as Row[])} />
            </p>
          </section>
        ) : null}
        {r && r.provenance !== 'none' ? <Behind values={values} exact={r.provenance === 'rows'} /> : null}
      </div>
    </div>
  );
}
