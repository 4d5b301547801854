// Numbers and quantities as text for people, and tables as CSV.

/** A number with three significant digits, without an exponent between 0.001 and a million. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e6 || size < 1e-3) return value.toExponential(digits - 1).replace('e+', 'e');
  if (size >= 10 ** digits) return String(Math.round(value));
  return value.toPrecision(digits);
}

/** A number without trailing zeros, for inputs and axes. With at least 6 digits whole numbers are not rounded. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '';
  const rounded = Number(value.toPrecision(digits));
  if (digits >= 6 && Number.isSafeInteger(value) && rounded !== value) return String(value);
  const size = Math.abs(rounded);
  return size !== 0 && (size >= 1e9 || size < 1e-4) ? rounded.toExponential().replace('e+', 'e') : String(rounded);
}

const times: [number, number, string][] = [
  [1e-6, 1e-9, 'ns'],
  [1e-3, 1e-6, 'µs'],
  [1, 1e-3, 'ms'],
  [120, 1, 's'],
  [7200, 60, 'min'],
  [172800, 3600, 'h'],
  [Infinity, 86400, 'days'],
];

export function time(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds === 0) return '0 s';
  for (const [below, unit, name] of times)
    if (Math.abs(seconds) < below) return number(seconds / unit) + ' ' + name;
  return number(seconds) + ' s';
}

/** The unit for an axis whose largest value is `seconds`: the seconds of the unit, and its name. */
export function timeUnit(seconds: number): { size: number; name: string } {
  const [, size, name] = times.find(([below]) => seconds < below) ?? [0, 1, 's'];
  return { size, name };
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : Math.round(value).toLocaleString('en-US');
}

export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined || !Number.isFinite(dollars)) return '–';
  const size = Math.abs(dollars);
  if (size === 0) return '$0';
  if (size >= 100) return '$' + Math.round(dollars).toLocaleString('en-US');
  if (size >= 0.1) return '$' + dollars.toFixed(2);
  if (size >= 1e-4) return '$' + String(Number(dollars.toPrecision(2)));
  return '$' + dollars.toExponential(1);
}

/** Money at the tick of an axis: short, without cents where they are zero. */
export function moneyTick(dollars: number): string {
  const size = Math.abs(dollars);
  if (size >= 1e6) return '$' + plain(dollars / 1e6) + 'M';
  if (size >= 1e4) return '$' + plain(dollars / 1e3) + 'k';
  return '$' + (size >= 1000 ? Math.round(dollars).toLocaleString('en-US') : plain(dollars));
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–';
  if (share > 0.99 && share < 1) return 'over 99 %';
  if (share > 0 && share < 0.01) return 'under 1 %';
  return Math.round(100 * share) + ' %';
}

export function factor(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : number(value) + '×';
}

export function workers(n: number): string {
  return n === 1 ? '1 worker' : n + ' workers';
}

export function bitRate(bytesPerSecond: number): string {
  const bits = 8 * bytesPerSecond;
  const step = [1e12, 1e9, 1e6, 1e3].findIndex((unit) => bits >= unit);
  return step < 0 ? number(bits) + ' bit/s' : number(bits / (10 ** (12 - 3 * step))) + ' ' + 'TGMk'[step] + 'bit/s';
}

export type Row = Record<string, unknown>;

function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

/** Rows as CSV with these columns; null is an empty cell. */
export function toCsv(columns: string[], rows: Row[]): string {
  const lines = [columns.map(cell).join(',')];
  for (const row of rows) lines.push(columns.map((column) => cell(row[column])).join(','));
  return lines.join('\n') + '\n';
}
