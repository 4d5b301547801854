// The view "Recommend": a number of workers for a batch and a latency, with the runs that the answer comes from.
import { hasNoStore, useAnswer } from './api';
import { Chart } from './chart';
import { money, percent, plain, time, toCsv, workers, type Row } from './format';
import type { Values } from './link';
import { onceEach, recommendLine, recommendPath, recommendSpec, runsLike } from './recommend_data';
import type { Recommend, RunsPage } from './types.gen';
import { capital, Download, Field, ProblemContext, Select, Table, useSettled, Wrong, type Column } from './ui';

const provenances: Record<string, string> = {
  rows: 'runs that match exactly',
  fit: 'a fit of similar runs',
  model: 'the model of the job',
  none: 'no runs yet',
};

const columns: Column[] = [
  { key: 'n', label: 'workers', number: true },
  { key: 'time_s', label: 'time', text: time, number: true },
  { key: 'low_s', label: 'from', text: time, number: true },
  { key: 'high_s', label: 'to', text: time, number: true },
  { key: 'cost', label: 'cost', text: money, number: true },
  { key: 'row_count', label: 'runs', number: true },
  { key: 'why', label: 'note', text: (why: string | null, row: Row) => why ?? (row.feasible === false ? 'exceeds the limit' : '') },
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

/** The runs that match exactly; if there are none, runs with the same batch or latency; otherwise any runs. */
function SourceRuns({ values, exact }: { values: Values; exact: boolean }) {
  const same = useAnswer<RunsPage>({ path: runsLike(values, exact ? 'both' : 'batch') }, 0, 200);
  const others = useAnswer<RunsPage>(exact ? null : { path: runsLike(values, 'latency') }, 0, 200);
  const near = onceEach([...(same.value?.runs ?? []), ...(others.value?.runs ?? [])]);
  const far = !exact && !same.busy && !others.busy && !near.length;
  const some = useAnswer<RunsPage>(far ? { path: runsLike(values, 'none') } : null, 0, 200);
  const rows = far ? (some.value?.runs ?? []) : near;
  const how = far ? 'No run has the same batch or latency either; these are some of the runs that the fit uses.' : 'These runs have the same batch or the same latency; the fit uses other runs too.';
  return (
    <section class="card">
      <h2>Runs behind the answer</h2>
      {exact ? null : <p class="soft">No run matches exactly. {how}</p>}
      {rows.length ? <Table name="runs behind the answer" columns={runColumns} rows={rows} /> : null}
    </section>
  );
}

function Recommended({ r }: { r: Recommend }) {
  const line = recommendLine(r);
  const settled = useSettled(line, 400);
  const facts: [string, string][] = [['From', provenances[r.provenance] ?? r.provenance]];
  if (r.reason) facts.push(['Why', r.reason]);
  if (r.sure_near !== null) facts.push(['How sure', `${percent(r.sure_near)} sure to be within ${percent(r.slack)} of the best; the exact best lies between ${r.n_low} and ${r.n_high}`]);
  if (r.best && r.recommended && r.best.n !== r.recommended.n) facts.push(['Optimum', `${workers(r.best.n)}: ${time(r.best.time_s)}`]);
  const chosen = r.recommended ?? r.candidates[0];
  if (chosen && chosen.meets !== null) facts.push(['Deadline and budget', `met with a probability of ${percent(chosen.meets)} (asked ${percent(r.certainty)})`]);
  for (const c of r.candidates.filter((c) => c.failed)) facts.push(['Fails', `${workers(c.n)}: ${c.why ?? 'failed before'}`]);
  if (r.next) {
    const at = Object.entries(r.next).filter(([key]) => key !== 'n').map(([key, v]) => `${key} ${key === 'latency' ? time(Number(v)) : plain(Number(v), 6)}`).join(', ');
    facts.push(['Would help', `a run with ${workers(r.next.n)}${at ? ', ' + at : ''}` + (r.next_why ? ': ' + r.next_why : '')]);
  }
  return (
    <section class="card answer" aria-label="The recommendation">
      <p class="headline" data-test="headline">{line}</p>
      <p class="hidden" role="status">{settled}</p>
      <dl>{facts.map(([name, text], i) => <div key={i}><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
      {r.notes.length ? <ul class="notes">{r.notes.map((note) => <li key={note}>{capital(note)}</li>)}</ul> : null}
    </section>
  );
}

export function RecommendView({ values, onChange }: { values: Values; onChange: (changes: Values) => void }) {
  const asked = values.batch || values.latency;
  // Without a question, a request for one run finds out whether the server has a store.
  const answer = useAnswer<Recommend | RunsPage>({ path: asked ? recommendPath(values) : 'v1/runs?limit=1' }, 0, 250);
  const r = asked && answer.value && 'candidates' in answer.value ? answer.value : null;
  const noStore = hasNoStore(answer.problem);
  const spec = r ? recommendSpec(r) : null;
  return (
    <ProblemContext.Provider value={answer.problem}>
      <div class="view">
        <div class="controls">
          <fieldset class="card">
            <legend>Configuration</legend>
            <div class="fields">
              <Field field="batch" label="Batch" placeholder="64000" value={values.batch ?? ''} onChange={(batch) => onChange({ batch })} />
              <Field field="latency" label="Latency, ms" placeholder="20" value={values.latency ?? ''} onChange={(latency) => onChange({ latency })} />
              <Field field="algorithm" label="Algorithm" placeholder="any" value={values.algorithm ?? ''} onChange={(algorithm) => onChange({ algorithm })} />
              <Field field="machine" label="Machine" placeholder="any" value={values.machine ?? ''} onChange={(machine) => onChange({ machine })} />
              <Field field="n" label="Workers to choose from" placeholder="1..8" value={values.n ?? ''} onChange={(n) => onChange({ n })} />
              <Field field="price" label="Price of a worker, $/h" placeholder="0.5" value={values.price ?? ''} onChange={(price) => onChange({ price })} />
              <Field field="deadline" label="Deadline" placeholder="10 min" value={values.deadline ?? ''} onChange={(deadline) => onChange({ deadline })} />
              <Select field="goal" label="Goal" value={values.goal ?? ''} onChange={(goal) => onChange({ goal })}>
                <option value="">automatic</option>
                <option value="time">least time</option>
                <option value="cost">least cost</option>
                <option value="balance">balance of both</option>
              </Select>
            </div>
          </fieldset>
        </div>
        <div class={'results' + (answer.busy ? ' busy' : '')} aria-busy={answer.busy}>
          {noStore ? <p class="card" data-test="no-store">This server has no store of runs, so it cannot recommend from them. Start it with <code>howmany serve --record FILE</code>.</p> : null}
          {answer.problem && !noStore ? <Wrong problem={answer.problem} /> : null}
          {!asked && !answer.problem ? <p class="card soft">Enter a batch or a latency.</p> : null}
          {r ? <Recommended r={r} /> : null}
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
          {r && r.provenance !== 'none' ? <SourceRuns values={values} exact={r.provenance === 'rows'} /> : null}
        </div>
      </div>
    </ProblemContext.Provider>
  );
}
