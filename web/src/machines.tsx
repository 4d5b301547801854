// Which machines: those of the catalog, with a filter; none means the job's own.
import { useState } from 'preact/hooks';
import { bitRate, money } from './format';

export interface MachineEntry {
  name: string;
  title: string | null;
  accelerators: number | null;
  bandwidth_bytes_per_s: number | null;
  latency_s: number | null;
  price_per_h: number | null;
}

interface Props {
  /** The machine of the job, if it names one. */
  own: string | undefined;
  machines: MachineEntry[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

const most = 16;

function about(m: MachineEntry): string {
  const parts = [m.bandwidth_bytes_per_s ? bitRate(m.bandwidth_bytes_per_s) : '', m.price_per_h ? money(m.price_per_h) + '/h' : 'no price'];
  return parts.filter(Boolean).join(', ');
}

export function MachinePicker({ own, machines, chosen, onChange }: Props) {
  const [wanted, setWanted] = useState('');
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = machines.filter((m) => words.every((word) => (m.name + ' ' + m.title).toLowerCase().includes(word)));
  const toggle = (name: string) => onChange(chosen.includes(name) ? chosen.filter((c) => c !== name) : [...chosen, name]);
  return (
    <fieldset class="card">
      <legend>Machines</legend>
      <p class="soft" id="machines-chosen">
        {chosen.length ? chosen.join(', ') : own ? own + ', as in the job.' : 'Those of the job.'}{' '}
        {chosen.length ? <button type="button" class="plain" onClick={() => onChange([])}>Use the job’s own</button> : null}
      </p>
      <details>
        <summary>Choose others</summary>
        <div class="field">
          <label for="machine-filter">Find</label>
          <input id="machine-filter" type="search" placeholder="h100" value={wanted} onInput={(e) => setWanted(e.currentTarget.value)} />
        </div>
        <ul class="choices" aria-label="Machines of the catalog">
          {found.map((m) => (
            <li key={m.name}>
              <label>
                <input type="checkbox" checked={chosen.includes(m.name)} disabled={!chosen.includes(m.name) && chosen.length >= most} onChange={() => toggle(m.name)} />
                <span>
                  {m.name} <small class="soft">{about(m)}</small>
                </span>
              </label>
            </li>
          ))}
        </ul>
        {found.length ? null : <p class="soft">No machine has that in its name.</p>}
      </details>
    </fieldset>
  );
}
