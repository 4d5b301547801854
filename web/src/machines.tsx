// Choosing machines of the catalog, with a filter. Without a choice the job's own machine is used.
import { useState } from 'preact/hooks';
import { bitRate, money } from './format';
import type { CatalogEntry } from './types.gen';
import { InputProblem, inputAttributes, useProblem } from './ui';

interface Props {
  /** The machine of the job, if it names one. */
  own: string | undefined;
  machines: CatalogEntry[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

/** The largest number of machines that can be compared. */
const most = 16;

function machineText(m: CatalogEntry): string {
  const parts = [m.bandwidth_bytes_per_s ? bitRate(m.bandwidth_bytes_per_s) : '', m.price_per_h ? money(m.price_per_h) + '/h' : 'no price'];
  return parts.filter(Boolean).join(', ');
}

export function MachinePicker({ own, machines, chosen, onChange }: Props) {
  const [wanted, setWanted] = useState('');
  const message = useProblem('on');
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = machines.filter((m) => words.every((word) => (m.name + ' ' + m.title).toLowerCase().includes(word)));
  const toggle = (name: string) => onChange(chosen.includes(name) ? chosen.filter((c) => c !== name) : [...chosen, name]);
  return (
    <fieldset class="card">
      <legend>Machines</legend>
      <p class="soft" id="machines-chosen">
        {chosen.length ? chosen.join(', ') : own ? own + ', as in the job.' : 'The machines of the job.'}{' '}
        {chosen.length ? <button type="button" class="plain" onClick={() => onChange([])}>Use the job’s own</button> : null}
      </p>
      <InputProblem id="machine-filter" message={message} />
      <details>
        <summary>Choose others</summary>
        <div class="field">
          <label for="machine-filter">Find a machine</label>
          <input id="machine-filter" type="search" placeholder="h100" value={wanted} onInput={(e) => setWanted(e.currentTarget.value)} {...inputAttributes('on', 'machine-filter', message)} />
        </div>
        <ul class="choices" aria-label="Machines of the catalog">
          {found.map((m) => (
            <li key={m.name}>
              <label>
                <input type="checkbox" checked={chosen.includes(m.name)} disabled={!chosen.includes(m.name) && chosen.length >= most} onChange={() => toggle(m.name)} />
                <span>
                  {m.name} <small class="soft">{machineText(m)}</small>
                </span>
              </label>
            </li>
          ))}
        </ul>
        {found.length ? null : <p class="soft">No machine has this text in its name.</p>}
      </details>
    </fieldset>
  );
}
