// Small components that every view uses.
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { plain, type Row } from './format';
import type { AdviseRequest, PlanRequest, Problem, RecommendRequest, RunsListRequest } from './types.gen';

export interface Column {
  key: string;
  label: string;
  text?: (value: never, row: Row) => string;
  /** The column has numbers and is aligned to the right. */
  number?: boolean;
  /** What a cell shows instead of a text. */
  cell?: (row: Row) => ComponentChildren;
}

interface TableProps {
  name: string;
  columns: Column[];
  rows: Row[];
  /** The column to sort by, with a leading "-" for descending order. */
  sort?: string;
  onSort?: (column: string) => void;
  mark?: (row: Row) => string | undefined;
  /** The rows keep their order. */
  still?: boolean;
}

/** Compares two values of a column: numbers by size, other values as text, missing ones last. */
export function compareValues(a: unknown, b: unknown): number {
  const [lost, missing] = [a === null || a === undefined || a === '', b === null || b === undefined || b === ''];
  if (lost || missing) return Number(lost) - Number(missing);
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
}

/** The rows in the order of a column; a leading "-" means descending. Missing values stay last. */
export function sortedRows(rows: Row[], sort: string): Row[] {
  const key = sort.replace(/^-/, '');
  if (!key) return rows;
  const way = sort.startsWith('-') ? -1 : 1;
  const missing = (value: unknown) => value === null || value === undefined || value === '';
  return [...rows].sort((a, b) => (missing(a[key]) || missing(b[key]) ? 1 : way) * compareValues(a[key], b[key]));
}

function shown(column: Column, row: Row): string {
  const value = row[column.key];
  if (column.text) return column.text(value as never, row);
  return value === null || value === undefined ? '' : typeof value === 'number' ? plain(value, 6) : String(value);
}

function Heading({ column, sort, onSort }: { column: Column; sort?: string; onSort?: (column: string) => void }) {
  const up = sort === column.key;
  const down = sort === '-' + column.key;
  if (!onSort) return <th scope="col" class={column.number ? 'number' : ''}>{column.label}</th>;
  return (
    <th scope="col" class={column.number ? 'number' : ''} aria-sort={up ? 'ascending' : down ? 'descending' : 'none'}>
      <button type="button" class="plain" onClick={() => onSort(down ? column.key : '-' + column.key)}>
        {column.label} <span aria-hidden="true">{up ? '▲' : down ? '▼' : '↕'}</span>
      </button>
    </th>
  );
}

export function Table({ name, columns, rows, sort, onSort, mark, still }: TableProps) {
  const [own, setOwn] = useState('');
  const order = onSort ? sort : own;
  const choose = still ? undefined : (onSort ?? setOwn);
  const shownRows = onSort || still ? rows : sortedRows(rows, own);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={'Table: ' + name}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sort={order} onSort={choose} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shownRows.map((row, i) => (
            <tr key={i} class={mark?.(row)}>
              {columns.map((column) => (
                <td key={column.key} class={column.number ? 'number' : ''}>
                  {column.cell ? column.cell(row) : shown(column, row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function save(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

interface DownloadProps {
  name: string;
  type: string;
  text: () => string;
  label: string;
  of: string;
}

export function Download({ name, type, text, label, of }: DownloadProps) {
  return (
    <button type="button" class="small" onClick={() => save(name, type, text())} aria-label={`Download ${of} as ${label}`}>
      ↓ {label}
    </button>
  );
}

/** A text as a sentence: with a capital letter and a full stop. A name before a colon ("m: the number of workers") stays as it is. */
export function capital(text: string): string {
  const full = /^[\w.]+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(full) ? full : full + '.';
}

// ---- problems at their inputs ------------------------------------------------------------------

/** The problem of the view's last request, for the inputs below it. */
export const ProblemContext = createContext<Problem | null>(null);

const documents = ['job', 'traces', 'runs', 'files', 'on'];

/**
 * The name of the input that a problem belongs to. A problem inside a document (job, traces, runs)
 * belongs to the input of the document, which `source` names. The keys of `set` have inputs of
 * their own. All other problems name a field of the request.
 */
export function inputName(problem: Problem): string | null {
  const inside = problem.source && documents.includes(problem.source);
  return (inside ? problem.source : problem.field) ?? null;
}

/** Where in a document the problem is; empty for problems of a plain field. */
function placeText(problem: Problem): string {
  if (!problem.source || !documents.includes(problem.source)) return '';
  return [problem.line ? 'line ' + problem.line : '', problem.field ?? ''].filter(Boolean).join(', ');
}

/** The message to show at the input of this name, or null. */
export function useProblem(name: string): string | null {
  const problem = useContext(ProblemContext);
  if (!problem || inputName(problem) !== name) return null;
  const place = placeText(problem);
  const message = capital((place ? place + ': ' : '') + (problem.detail ?? problem.title));
  return problem.hint ? message + ' ' + capital(problem.hint) : message;
}

interface InputAttributes {
  'data-field': string;
  'aria-invalid'?: true;
  'aria-describedby'?: string;
}

/** Attributes of the input of a field: its name, and whether its value was refused. */
export function inputAttributes(name: string, id: string, message: string | null, hint?: string): InputAttributes {
  const described = [hint ? id + '-hint' : '', message ? id + '-problem' : ''].filter(Boolean).join(' ');
  return { 'data-field': name, 'aria-invalid': message ? true : undefined, 'aria-describedby': described || undefined };
}

export function InputProblem({ id, message }: { id: string; message: string | null }) {
  return message ? <small class="invalid" id={id + '-problem'}>{message}</small> : null;
}

function findInput(problem: Problem): HTMLInputElement | null {
  const name = inputName(problem);
  return name ? document.querySelector<HTMLInputElement>(`[data-field="${CSS.escape(name)}"]`) : null;
}

function goTo(input: HTMLInputElement): void {
  input.closest('details')?.setAttribute('open', '');
  input.focus();
}

/** A problem as a whole, with a button that moves the focus to the input that it belongs to. */
export function Wrong({ problem }: { problem: Problem }) {
  const input = findInput(problem);
  const where = placeText(problem) || (input ? '' : (problem.field ?? ''));
  const label = input?.labels?.[0]?.textContent ?? input?.getAttribute('aria-label');
  return (
    <div class="card wrong" role="alert">
      <strong>{capital(problem.detail ?? problem.title)}</strong>
      {where ? <p class="soft">Where: {where}</p> : null}
      {problem.hint ? <p class="soft">{capital(problem.hint)}</p> : null}
      {input && label ? <p><button type="button" class="plain" onClick={() => goTo(input)}>Go to “{label}”</button></p> : null}
    </div>
  );
}

/** A section that can be closed. It opens when `open` becomes true, and only the user closes it. */
export function Fold({ title, open, children }: { title: string; open: boolean; children: ComponentChildren }) {
  const box = useRef<HTMLDetailsElement>(null);
  const [first] = useState(open);
  useEffect(() => {
    if (open && box.current) box.current.open = true;
  }, [open]);
  return (
    <details ref={box} open={first}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

// ---- inputs ------------------------------------------------------------------------------------

/** Names of request fields, as the server writes them in `field` of a problem. */
export type RequestField = 'precision' | 'cluster.max_nodes' | `parallel.${string}` | keyof PlanRequest | keyof AdviseRequest | keyof RecommendRequest | keyof RunsListRequest;

interface FieldProps {
  /** The field of the request; also the id of the input. */
  field: RequestField;
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  hint?: string;
  children?: ComponentChildren;
}

/** A text field; every keystroke is a change. */
export function Field({ field, label, value, onChange, placeholder, hint }: FieldProps) {
  const message = useProblem(field);
  return (
    <div class="field">
      <label for={field}>{label}</label>
      <input
        id={field}
        type="text"
        value={value}
        placeholder={placeholder}
        onInput={(e) => onChange(e.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
        {...inputAttributes(field, field, message, hint)}
      />
      {hint ? <small id={field + '-hint'}>{hint}</small> : null}
      <InputProblem id={field} message={message} />
    </div>
  );
}

export function Select({ field, label, value, onChange, children }: FieldProps) {
  const message = useProblem(field);
  return (
    <div class="field">
      <label for={field}>{label}</label>
      <select id={field} value={value} onChange={(e) => onChange(e.currentTarget.value)} {...inputAttributes(field, field, message)}>
        {children}
      </select>
      <InputProblem id={field} message={message} />
    </div>
  );
}

interface TextAreaProps {
  /** The field of the request whose document is edited here. */
  field: RequestField;
  label: string;
  rows: number;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
}

export function TextArea({ field, label, rows, value, onChange, hint }: TextAreaProps) {
  const id = field + '-text';
  const message = useProblem(field);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} rows={rows} spellcheck={false} value={value} onInput={(e) => onChange(e.currentTarget.value)} {...inputAttributes(field, id, message, hint)} />
      {hint ? <small id={id + '-hint'}>{hint}</small> : null}
      <InputProblem id={id} message={message} />
    </div>
  );
}

/** A value that follows another one after it has not changed for some time; screen readers read it. */
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), milliseconds);
    return () => window.clearTimeout(timer);
  }, [value]);
  return settled;
}
