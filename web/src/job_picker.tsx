// The job: an example, a network of the catalog, or a text of one's own.
import { examples, firstJob } from './examples';
import type { Values } from './link';

export interface NetworkEntry {
  name: string;
  title: string | null;
  parameters: number | null;
}

interface Props {
  values: Values;
  yaml: string;
  networks: NetworkEntry[];
  onChange: (changes: Values) => void;
}

/** Another job starts without the changes made to the last one. */
const fresh: Values = { batch: '', bandwidth: '', latency: '', price: '', yaml: '', on: '' };

export function JobPicker({ values, yaml, networks, onChange }: Props) {
  const job = values.job ?? firstJob;
  return (
    <fieldset class="card">
      <legend>Job</legend>
      <div class="field">
        <label for="job">Start from</label>
        <select
          id="job"
          value={job}
          onChange={(e) => onChange(e.currentTarget.value === 'own' ? { job: 'own', yaml } : { ...fresh, job: e.currentTarget.value })}
        >
          <optgroup label="Examples">
            {examples.map((e) => (
              <option key={e.id} value={'ex:' + e.id}>{e.title}</option>
            ))}
          </optgroup>
          <optgroup label="Networks of the catalog">
            {networks.filter((n) => n.parameters).map((n) => (
              <option key={n.name} value={'net:' + n.name}>{n.name}</option>
            ))}
          </optgroup>
          <option value="own">Your own</option>
        </select>
      </div>
      <details open={job === 'own'}>
        <summary>The job as YAML</summary>
        <div class="field">
          <label for="yaml">Edit it, or paste another</label>
          <textarea id="yaml" rows={12} spellcheck={false} value={yaml} onInput={(e) => onChange({ job: 'own', yaml: e.currentTarget.value })} />
        </div>
      </details>
    </fieldset>
  );
}
