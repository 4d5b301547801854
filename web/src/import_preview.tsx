// What the server understood of a file, before it is kept: the rows of a table, or those that an import of another format gives.
import { count, plain, type Row } from './format';
import type { ImportFile } from './types.gen';
import { capital, Table, type Column } from './ui';

function columnsOf(rows: Row[]): Column[] {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return keys.map((key) => ({ key, label: key, number: rows.some((row) => typeof row[key] === 'number') }));
}

/** Runs or traces of an import; each is a list of rows. */
export function importedRows(file: ImportFile): { rows: Row[]; kind: 'runs' | 'traces' } {
  const runs = Array.isArray(file.runs) ? (file.runs as Row[]) : [];
  const traces = Array.isArray(file.traces) ? (file.traces as Row[]) : [];
  return runs.length || !traces.length ? { rows: runs, kind: 'runs' } : { rows: traces, kind: 'traces' };
}

function amount(item: { what: string; count: number | null }): string {
  return item.count === null ? item.what : `${count(item.count)} ${item.what}`;
}

export function ImportPreview({ name, file }: { name: string; file: ImportFile }) {
  const { rows, kind } = importedRows(file);
  return (
    <section class="card" aria-label="What was understood">
      <h2>{name}: {file.title}</h2>
      <dl>
        <div><dt>Taken</dt><dd>{file.taken.map(amount).join(', ') || 'nothing'}</dd></div>
        {file.left_out.length ? <div><dt>Left out</dt><dd>{file.left_out.map(amount).join(', ')}</dd></div> : null}
        <div><dt>To keep</dt><dd>{rows.length ? `${plain(rows.length, 9)} ${rows.length === 1 ? kind.slice(0, -1) : kind}` : 'no runs and no traces; it cannot be added'}</dd></div>
      </dl>
      {file.partial ? <p class="invalid">The file is cut short or damaged; what could be read is shown.</p> : null}
      {file.needs_n ? <p class="invalid">The number of workers is missing: give it beside the file.</p> : null}
      {file.notes.length ? <ul class="notes">{file.notes.map((note) => <li key={note}>{capital(note)}</li>)}</ul> : null}
      {rows.length ? <Table name="rows of the file" columns={columnsOf(rows)} rows={rows.slice(0, 200)} /> : null}
    </section>
  );
}
