// The view "Runs": runs of the server's store, or of a file that is opened in the page.
import { useMemo, useState } from 'preact/hooks';
import { ask, hasNoStore, useAnswer, type Ask } from './api';
import { Chart } from './chart';
import { percent, plain, time, toCsv, type Row } from './format';
import type { Values } from './link';
import { parseTable } from './parse';
import { ImportPreview, importedRows } from './import_preview';
import { withQuery } from './request';
import { Running } from './running';
import { addedLine, filtered, fitRequest, fullPage, isTable, pageSize, residualSpec, runsPath, sampleRuns, storedFitRequest } from './runs_data';
import type { Added, Fit, Import, ImportFile, Problem, RunsPage } from './types.gen';
import { capital, Download, Field, ProblemContext, Table, Wrong, type Column } from './ui';
import { textOf, Upload } from './upload';

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

/** The fit of all runs of a file, or of all stored runs that match, not only of those on the page. */
function Fitted({ rows, where, stored }: { rows: Row[]; where: string; stored: boolean }) {
  const runs = rows.filter((row) => !row.status || row.status === 'ok');
  const body = stored ? storedFitRequest(where, runs) : fitRequest(runs);
  const answer = useAnswer<Fit>(runs.length > 2 ? { path: 'v1/fit', body } : null, 0, 150);
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

function Imported({ name, file, content, onClose, onKept, noStore }: { name: string; file: ImportFile; content: Blob; onClose: () => void; onKept: (line: string) => void; noStore: boolean }) {
  const [n, setN] = useState('');
  const [read, setRead] = useState(file);
  const [problem, setProblem] = useState<Problem | null>(null);
  const { rows } = importedRows(read);
  const again = async (text: string) => {
    setN(text);
    if (!/^\d+$/.test(text)) return;
    try {
      const answer = await ask<Import>({ path: withQuery('v1/import', { set: 'n=' + text }), body: content, type: 'application/octet-stream' });
      if (answer.files[0]) setRead(answer.files[0]);
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const keep = async () => {
    try {
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
      onKept(addedLine(await ask<Added>({ path: 'v1/runs', body: toCsv(columns, rows), type: 'text/csv' })));
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <>
      <ImportPreview name={name} file={read} />
      {file.needs_n ? (
        <div class="card field">
          <label for="import-n">Number of workers of these runs</label>
          <input id="import-n" type="text" inputMode="numeric" value={n} onInput={(e) => void again(e.currentTarget.value)} />
        </div>
      ) : null}
      {problem ? <Wrong problem={problem} /> : null}
      <p class="row">
        {noStore || !rows.length ? null : <button type="button" class="main" onClick={() => void keep()}>Add them to the server</button>}
        <button type="button" onClick={onClose}>Close</button>
      </p>
    </>
  );
}

function NoRuns({ onSample }: { onSample: () => void }) {
  return (
    <section class="card" aria-label="No runs yet">
      <h2>No runs yet</h2>
      <p>A run is one line of a table: the number of workers <code>n</code>, the <code>seconds</code> it took, and whatever else differed, such as the <code>size</code> of the data.</p>
      <pre>{sampleRuns}</pre>
      <p class="row"><button type="button" onClick={onSample}>Show this sample</button></p>
      <p class="soft">Next: run your program on two or three numbers of workers, write such a table, and drop it here. Logs of Hugging Face, Megatron, TensorBoard, Spark, Slurm and others are read too.</p>
    </section>
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

function askPage(request: Ask, signal?: AbortSignal): Promise<RunsPage> {
  return fullPage(request.path, (path) => ask<RunsPage>({ ...request, path }, signal));
}

export function RunsView({ values, onChange }: ViewProps) {
  const [additions, setAdditions] = useState(0);
  const [status, setStatus] = useState('');
  const local = values.csv !== undefined;
  const stored = useAnswer<RunsPage>({ path: local ? 'v1/runs?limit=1' : runsPath(values) }, additions, 150, askPage);
  const noStore = hasNoStore(stored.problem);
  const own = useMemo(() => parseTable(values.csv ?? ''), [values.csv]);
  const matching = useMemo(() => filtered(own, values.where ?? '', values.sort ?? ''), [own, values.where, values.sort]);
  const from = Number(values.after) || 0;
  const rows = local ? matching.slice(from, from + pageSize) : (stored.value?.runs ?? []);
  const next = local ? (from + pageSize < matching.length ? String(from + pageSize) : null) : (stored.value?.next ?? null);
  const columns = columnsOf(rows, !local);
  const [imported, setImported] = useState<{ name: string; file: ImportFile; content: Blob } | null>(null);
  const show = (csv: string) => { setImported(null); onChange({ csv, after: '', where: '', sort: '' }); };
  const open = async (file: File) => {
    setStatus('');
    setImported(null);
    try {
      const text = await textOf(file);
      if (isTable(text)) return show(text);
      const answer = await ask<Import>({ path: 'v1/import', body: file, type: 'application/octet-stream' });
      if (answer.files[0]) setImported({ name: file.name, file: answer.files[0], content: file });
    } catch (error) {
      const problem = error as Problem;
      setStatus(problem.status === 422 ? `${file.name} is neither a table of runs nor a file of a tool that is known.` : `${file.name}: ${capital(problem.detail ?? problem.title ?? 'it cannot be read')}`);
    }
  };
  const isEmpty = !rows.length && !noStore && !stored.busy && !stored.problem;
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
            <Upload id="runs-file" label="Drop a table of runs (.csv, .jsonl), or a log of another tool" accept="*" onFile={open} />
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
          <Running onEnded={() => setAdditions((old) => old + 1)} />
          {noStore ? <p class="card" data-test="no-store">This server has no store, so that it keeps no runs. A table that is opened here is shown and fitted.</p> : null}
          {stored.problem && !noStore && !local ? <Wrong problem={stored.problem} /> : null}
          {imported ? <Imported key={imported.name} {...imported} noStore={noStore} onClose={() => setImported(null)} onKept={(line) => { setStatus(line); setImported(null); setAdditions(additions + 1); }} /> : null}
          {isEmpty && !imported && !local && values.where ? <p class="card soft">No runs match.</p> : null}
          {(isEmpty || noStore) && !imported && !local && !values.where ? <NoRuns onSample={() => show(sampleRuns)} /> : null}
          {rows.length && !imported ? (
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
          {rows.length && !imported ? <Fitted rows={local ? matching : rows} where={values.where ?? ''} stored={!local} /> : null}
        </div>
      </div>
    </ProblemContext.Provider>
  );
}
