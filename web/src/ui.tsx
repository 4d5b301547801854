// Small pieces that every view uses.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Problem } from './api';
import { plain, type Row } from './format';

export interface Column {
  key: string;
  label: string;
  text?: (value: never, row: Row) => string;
  /** Numbers stand right. */
  number?: boolean;
}

interface TableProps {
  name: string;
  columns: Column[];
  rows: Row[];
  /** Column that is sorted by, with - for the largest first; and what to do on a click. */
  sort?: string;
  onSort?: (column: string) => void;
  mark?: (row: Row) => string | undefined;
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

export function Table({ name, columns, rows, sort, onSort, mark }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={'Table: ' + name}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i} class={mark?.(row)}>
              {columns.map((column) => (
                <td key={column.key} class={column.number ? 'number' : ''}>
                  {shown(column, row)}
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

export function Wrong({ problem }: { problem: Problem }) {
  const where = [problem.line ? 'line ' + problem.line : '', problem.field ?? ''].filter(Boolean).join(', ');
  return (
    <div class="card wrong" role="alert">
      <strong>{capital(problem.detail ?? problem.title)}</strong>
      {where ? <p class="soft">Where: {where}</p> : null}
      {problem.hint ? <p class="soft">{capital(problem.hint)}</p> : null}
    </div>
  );
}

export function capital(text: string): string {
  const full = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(full) ? full : full + '.';
}

interface FieldProps {
  id: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  hint?: string;
  children?: ComponentChildren;
}

/** A text field; a change counts as soon as it is typed. */
export function Field({ id, label, value, onChange, placeholder, hint }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        value={value}
        placeholder={placeholder}
        aria-describedby={hint ? id + '-hint' : undefined}
        onInput={(e) => onChange(e.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
      {hint ? <small id={id + '-hint'}>{hint}</small> : null}
    </div>
  );
}

export function Select({ id, label, value, onChange, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        {children}
      </select>
    </div>
  );
}

/** A state that follows a value once nothing has changed for a while, for what is read aloud. */
export function useCalm<T>(value: T, milliseconds: number): T {
  const [calm, setCalm] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setCalm(value), milliseconds);
    return () => window.clearTimeout(timer);
  }, [value]);
  return calm;
}
