// Choosing the job: an example, a network of the catalog, or the user's own text.
import { examples, firstJob } from './examples';
import type { Values } from './link';
import type { CatalogEntry } from './types.gen';
import { TextArea, useProblem } from './ui';

interface Props {
  values: Values;
  yaml: string;
  networks: CatalogEntry[];
  onChange: (changes: Values) => void;
}

/** When another job is chosen, the changes to the previous one are removed. */
const fresh: Values = { batch: '', bandwidth: '', latency: '', price: '', yaml: '', on: '' };

export function JobPicker({ values, yaml, networks, onChange }: Props) {
  const job = values.job ?? firstJob;
  const wrong = useProblem('job') !== null;
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
      <details open={job === 'own' || wrong}>
        <summary>Edit the job, or paste another</summary>
        <TextArea field="job" label="YAML of the job" rows={12} value={yaml} onChange={(text) => onChange({ job: 'own', yaml: text })} />
      </details>
    </fieldset>
  );
}
