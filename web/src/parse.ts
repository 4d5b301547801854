// Reading quantities, tables, and the few keys of a job that the sliders show. Only the server
// parses jobs completely; here a key that is not understood is ignored.
import type { Row } from './format';

const units: Record<string, number> = {
  '': 1, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, μs: 1e-6, ns: 1e-9, min: 60, h: 3600,
  'bit/s': 1, 'kbit/s': 1e3, 'mbit/s': 1e6, 'gbit/s': 1e9, 'tbit/s': 1e12,
  'b/s': 8, 'kb/s': 8e3, 'mb/s': 8e6, 'gb/s': 8e9, 'tb/s': 8e12,
  kbps: 1e3, mbps: 1e6, gbps: 1e9, tbps: 1e12,
  '$/h': 1, '$/min': 60, '$/s': 3600,
};

/** "25 Gbit/s" as bits a second, "20 ms" as seconds, "$3.06/h" as dollars an hour; null for any other text. */
export function quantity(text: string): number | null {
  const bare = text.trim().replace(/_/g, '').replace(/^\$\s*([0-9.e+-]+)\s*\//i, '$1 $$/');
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(\S*)$/i.exec(bare);
  if (!match) return null;
  const unit = units[(match[2] ?? '').toLowerCase()];
  const value = Number(match[1]);
  return unit === undefined || !Number.isFinite(value) ? null : Number((value * unit).toPrecision(15));
}

/** The values of a job that the sliders show, in SI units; bandwidth in bits a second. */
export interface Facts {
  name?: string;
  machine?: string;
  fabric?: string;
  batch?: number;
  bandwidth?: number;
  latency?: number;
  price?: number;
  /** Whether the job has a network, so that batch, bandwidth and latency have an effect. */
  counted: boolean;
}

function valueOf(text: string, key: string): string | undefined {
  const match = new RegExp('(?:^|[{,\\s])' + key + ':\\s*([^,}{\\n#]+)', 'm').exec(text);
  return match?.[1]?.trim().replace(/^(['"])(.*)\1$/, '$2') || undefined;
}

/** The part of a job from a key at the left margin to the next such key. */
function section(text: string, key: string): string {
  const match = new RegExp('^' + key + ':[^\\n]*(?:\\n(?:[ \\t][^\\n]*|[ \\t]*))*', 'm').exec(text);
  return match?.[0] ?? '';
}

export function facts(job: string): Facts {
  const text = job.replace(/(^|\s)#.*$/gm, '$1');
  const cluster = section(text, 'cluster');
  const top = text.replace(cluster, '');
  const link = /link:\s*\{[^}]*\}/.exec(cluster)?.[0] ?? '';
  const own = cluster.replace(link, '');
  const found: Facts = { counted: /^network:/m.test(top) };
  const set = (key: 'batch' | 'bandwidth' | 'latency' | 'price', from: string) => {
    const value = quantity(valueOf(from, key) ?? '');
    if (value !== null) found[key] = value;
  };
  found.name = valueOf(top, 'name');
  found.machine = valueOf(own, 'machine') ?? /^cluster:\s*([\w.-]+)\s*$/m.exec(cluster)?.[1];
  found.fabric = /(?:fabric|network):\s*([\w.-]+)/.exec(own)?.[1];
  set('batch', top);
  set('bandwidth', own);
  set('latency', own);
  set('price', own);
  return found;
}

/** Rows of CSV text, with quotes; lines that begin with # are skipped. */
export function parseCsv(text: string): Row[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  const source = text.replace(/\r\n?/g, '\n').replace(/^\s*#.*\n/gm, '');
  for (let at = 0; at <= source.length; at++) {
    const c = source[at] ?? '\n';
    if (quoted) {
      if (c === '"' && source[at + 1] === '"') cell += source[at++];
      else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"') quoted = true;
    else if (c === ',' || c === '\n') {
      row.push(cell.trim());
      cell = '';
      if (c === '\n') {
        if (row.length > 1 || row[0] !== '') rows.push(row);
        row = [];
      }
    } else cell += c;
  }
  const header = rows.shift() ?? [];
  return rows.map((cells) => Object.fromEntries(header.map((name, i) => [name, typed(cells[i] ?? '')])));
}

function typed(text: string): string | number | null {
  if (text === '') return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

/** Rows of CSV or JSON lines; reading stops at a line that is not JSON. */
export function parseTable(text: string): Row[] {
  if (!/^\s*\{/.test(text)) return parseCsv(text);
  const rows: Row[] = [];
  for (const line of text.split('\n')) {
    try {
      if (line.trim()) rows.push(JSON.parse(line) as Row);
    } catch {
      return rows;
    }
  }
  return rows;
}
