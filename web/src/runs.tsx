// The view "Runs": runs of the server's store, or of a file that is opened in the page.
import { useMemo, useState } from 'preact/hooks';
import { ask, hasNoStore, useAnswer } from './api';
import { Chart } from './chart';
import { percent, plain, time, toCsv, type Row } from './format';
import type { Values } from './link';
import { parseTable } from './parse';
import { addedLine, filtered, fitRequest, fitRows, pageSize, residualSpec, runsPath } from './runs_data';
import type { Added, Fit, Problem, RunsPage } from './types.gen';
import { capital, Download, Field, ProblemContext, Table, Wrong, type Column } from './ui';
import { Upload } from './upload';

interface ViewProps {
  values: Values;
  onChange: (changes: Values) => void;
}

const texts: Record<string, (value: never) => string> = {
  seconds: time,
  total: time,
  latency: time,
  bandwidth: (v: number) => plain((8 * v) / 1e9, 4) + ' Gbit/s',
  made_at: (v: string) => String(v).replace('T', ' ').replace(/:\d\d(\.\d+)?Z?$/, ''),
};
/** Columns of stored runs that the table leaves out. */
const hiddenColumns = ['key', 'host', 'version', 'samples'];

/** The columns that at least one run has. Numbers of a file are shown unchanged, because their units are not known. */
function columnsOf(rows: Row[], stored: boolean): Column[] {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => !hiddenColumns.includes(key));
  return keys.map((key) => {
    const text = stored ? texts[key] : undefined;
    return {
      key,
      label: key,
      number: rows.some((row) => typeof row[key] === 'number'),
      text: text ? (value: never) => (value === null || value === undefined ? '' : text(value)) : undefined,
    };
  });
}

const residualColumns: Column[] = [
  { key: 'n', label: 'workers', number: true },
  { key: 'seconds', label: 'measured', text: time, number: true },
  { key: 'left_out_s', label: 'predicted', text: time, number: true },
  { key: 'error', label: 'error', text: percent, number: true },
];

function Fitted({ rows, stored }: { rows: Row[]; stored: boolean }) {
  const runs = fitRows(rows.filter((row) => !row.status || row.status === 'ok'), stored);
  const answer = useAnswer<Fit>(runs.length > 2 ? { path: 'v1/fit', body: fitRequest(runs) } : null, 0, 150);
  const spec = answer.value ? residualSpec(answer.value) : null;
  if (answer.problem) return <p class="card soft">These runs cannot be fitted: {capital(answer.problem.detail ?? answer.problem.title)}</p>;
  if (!spec || !answer.value) return answer.busy ? null : <p class="card soft">A fit needs more runs.</p>;
  const residuals = answer.value.residuals.map((r) => ({ ...r, error: r.left_out_s === null ? null : Math.abs(r.left_out_s / r.seconds - 1) }));
  return <Chart spec={spec} columns={residualColumns} rows={residuals} file="predicted" />;
}

function Add({ text, onAdded }: { text: string; onAdded: (line: string) => void }) {
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const send = async () => {
    setProblem(null);
    setSending(true);
    try {
      const type = /^\s*\{/.test(text) ? 'application/x-ndjson' : 'text/csv';
      const answer = await ask<Added>({ path: 'v1/runs', body: text, type });
      onAdded(addedLine(answer));
    } catch (error) {
      setSending(false);
      setProblem(error as Problem);
    }
  };
  return (
    <>
      <p class="row">
        <button type="button" class="main" disabled={sending} onClick={() => void send()}>Add them to the server</button>
      </p>
      {problem ? <Wrong problem={problem} /> : null}
    </>
  );
}

function Paging({ values, onChange, next, local }: ViewProps & { next: string | null; local: boolean }) {
  const from = local ? Number(values.after ?? 0) : 0;
  return (
    <p class="row">
      <button type="button" disabled={!values.after} onClick={() => onChange({ after: '' })}>First page</button>
      <button type="button" disabled={!next} onClick={() => onChange({ after: next ?? '' })}>Next page</button>
      {local ? <span class="soft">from run {from + 1}</span> : null}
    </p>
  );
}

export function RunsView({ values, onChange }: ViewProps) {
  const [additions, setAdditions] = useState(0);
  const [status, setStatus] = useState('');
  const local = values.csv !== undefined;
  const stored = useAnswer<RunsPage>({ path: local ? 'v1/runs?limit=1' : runsPath(values) }, additions, 150);
  const noStore = hasNoStore(stored.problem);
  const own = useMemo(() => parseTable(values.csv ?? ''), [values.csv]);
  const matching = useMemo(() => filtered(own, values.where ?? '', values.sort ?? ''), [own, values.where, values.sort]);
  const from = Number(values.after) || 0;
  const rows = local ? matching.slice(from, from + pageSize) : (stored.value?.runs ?? []);
  const next = local ? (from + pageSize < matching.length ? String(from + pageSize) : null) : (stored.value?.next ?? null);
  const columns = columnsOf(rows, !local);
  return (
    <ProblemContext.Provider value={local ? null : stored.problem}>
      <div class="view">
        <div class="controls">
          <fieldset class="card">
            <legend>Filter</legend>
            <Field field="where" label="Only runs with" placeholder="n>=4, algorithm=cocoa" value={values.where ?? ''} onChange={(where) => onChange({ where, after: '' })} hint="Conditions with =, !=, <, <=, > or >=, separated by commas." />
          </fieldset>
          <fieldset class="card">
            <legend>Add</legend>
            <Upload id="runs-file" label="Open a table of runs (.csv, .jsonl)" accept=".csv,.jsonl,.txt,.gz" onText={(csv) => { setStatus(''); onChange({ csv, after: '', where: '', sort: '' }); }} />
            {local ? (
              <>
                <p class="soft">These runs are only in this page.{' '}
                  <button type="button" class="plain" onClick={() => onChange({ csv: '', after: '' })}>Close the table</button>
                </p>
                {noStore ? null : <Add text={values.csv ?? ''} onAdded={(line) => { setStatus(line); setAdditions(additions + 1); onChange({ csv: '' }); }} />}
              </>
            ) : null}
            <p role="status">{status}</p>
          </fieldset>
        </div>
        <div class="results" aria-busy={stored.busy}>
          {noStore ? <p class="card" data-test="no-store">This server has no store of runs. To store runs, start it with <code>howmany serve --record FILE</code>. A table that is opened here is shown and fitted, but not stored.</p> : null}
          {stored.problem && !noStore && !local ? <Wrong problem={stored.problem} /> : null}
          {!rows.length && !noStore && !stored.busy && !stored.problem ? <p class="card soft">No runs match.</p> : null}
          {rows.length ? (
            <section class="card">
              <h2>{local ? `${matching.length} runs of the file` : 'Runs'}</h2>
              <Table name="runs" columns={columns} rows={rows} sort={values.sort ?? ''} onSort={(sort) => onChange({ sort, after: '' })} />
              <Paging values={values} onChange={onChange} next={next} local={local} />
              <p class="row">
                <Download name="runs.json" type="application/json" label="JSON" of="these runs" text={() => JSON.stringify(rows, null, 2) + '\n'} />
                <Download name="runs.csv" type="text/csv" label="CSV" of="these runs" text={() => toCsv([...new Set(rows.flatMap((row) => Object.keys(row)))], rows)} />
              </p>
            </section>
          ) : null}
          {rows.length ? <Fitted rows={local ? matching : rows} stored={!local} /> : null}
        </div>
      </div>
    </ProblemContext.Provider>
  );
}
