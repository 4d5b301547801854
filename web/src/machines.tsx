// Choosing machines of the catalog from a table with a filter. Without a choice the job's own machine is used.
import { useState } from 'preact/hooks';
import { bitRate, money, plain, type Row } from './format';
import type { CatalogEntry } from './types.gen';
import { InputProblem, inputAttributes, Table, useProblem, type Column } from './ui';

interface Props {
  /** The machine of the job, if it names one. */
  own: string | undefined;
  machines: CatalogEntry[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

/** The largest number of machines that can be compared. */
const most = 16;

const providers = ['AWS', 'Azure', 'Google', 'Lambda', 'Oracle'];

/** The provider that rents a machine, from its title; "own" for hardware to buy. */
export function providerOf(machine: CatalogEntry): string {
  return providers.find((name) => machine.title?.startsWith(name + ' ')) ?? 'own';
}

/** The accelerators of a machine, from its title: "8x H100 80 GB". */
export function acceleratorOf(machine: CatalogEntry): string {
  return /(?:\d+x|one|half an?) [^,]+/.exec(machine.title ?? '')?.[0] ?? 'CPU';
}

const columns: Column[] = [
  { key: 'accelerator', label: 'accelerators' },
  { key: 'memory_bytes', label: 'memory', text: (v: number | null) => (v ? plain(v / 2 ** 30) + ' GiB' : ''), number: true },
  { key: 'link_bandwidth_bytes_per_s', label: 'inside', text: (v: number | null) => (v ? bitRate(v) : ''), number: true },
  { key: 'bandwidth_bytes_per_s', label: 'between', text: (v: number | null) => (v ? bitRate(v) : ''), number: true },
  { key: 'price_per_h', label: 'price/h', text: (v: number | null) => (v ? money(v) : 'none'), number: true },
  { key: 'provider', label: 'provider' },
  { key: 'date', label: 'date' },
];

export function MachinePicker({ own, machines, chosen, onChange }: Props) {
  const [wanted, setWanted] = useState('');
  const [provider, setProvider] = useState('');
  const [priced, setPriced] = useState(true);
  const message = useProblem('on');
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = machines.filter(
    (m) => chosen.includes(m.name) || (words.every((word) => (m.name + ' ' + m.title).toLowerCase().includes(word)) && (!provider || providerOf(m) === provider) && (!priced || m.price_per_h)),
  );
  const toggle = (name: string) => onChange(chosen.includes(name) ? chosen.filter((c) => c !== name) : [...chosen, name]);
  const choice: Column = {
    key: 'name',
    label: 'machine',
    cell: (row: Row) => {
      const name = String(row.name);
      return (
        <label class="pick">
          <input type="checkbox" checked={chosen.includes(name)} disabled={!chosen.includes(name) && chosen.length >= most} onChange={() => toggle(name)} />
          {name}
        </label>
      );
    },
  };
  const rows = found.map((m) => ({ ...m, accelerator: acceleratorOf(m), provider: providerOf(m) })) as unknown as Row[];
  return (
    <section class="card" aria-label="Machines">
      <h2>Machines</h2>
      <p class="row">
        {chosen.map((name) => (
          <button key={name} type="button" class="small" onClick={() => toggle(name)} aria-label={`Remove ${name}`}>{name} ×</button>
        ))}
        {chosen.length ? null : <span class="soft">{own ? own + ', as in the job.' : 'The machines of the job.'}</span>}
        {chosen.length && own ? <button type="button" class="plain" onClick={() => onChange([])}>Use the job’s own</button> : null}
      </p>
      <InputProblem id="machine-filter" message={message} />
      <details>
        <summary>Choose machines</summary>
        <div class="fields">
          <div class="field">
            <label for="machine-filter">Find a machine</label>
            <input id="machine-filter" type="search" placeholder="h100" value={wanted} onInput={(e) => setWanted(e.currentTarget.value)} {...inputAttributes('on', 'machine-filter', message)} />
          </div>
          <div class="field">
            <label for="provider">Provider</label>
            <select id="provider" value={provider} onChange={(e) => setProvider(e.currentTarget.value)}>
              <option value="">all</option>
              {[...providers, 'own'].map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
          </div>
        </div>
        <label class="pick"><input type="checkbox" checked={priced} onChange={() => setPriced(!priced)} />only with a price</label>
        <div class="dense"><Table name="machines of the catalog" columns={[choice, ...columns]} rows={rows} /></div>
        {found.length ? null : <p class="soft">No machine matches.</p>}
      </details>
    </section>
  );
}
