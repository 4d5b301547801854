// Choosing the model: a name of the catalog, an example, a file (config.json of Hugging Face, a job), or YAML; and the amount of work.
import { useState } from 'preact/hooks';
import { ask } from './api';
import { examples } from './examples';
import type { Values } from './link';
import { firstValues, hasLayouts, jobText, layoutFields, modelKeys, networkName, precisions, units, usualWork, workOf, type Unit } from './model';
import type { CatalogEntry, Import, Problem } from './types.gen';
import { capital, Field, Fold, InputProblem, inputAttributes, Select, TextArea, useProblem } from './ui';
import { textOf, Upload } from './upload';

interface Props {
  values: Values;
  networks: CatalogEntry[];
  onChange: (changes: Values) => void;
}

const fresh: Values = Object.fromEntries(modelKeys.map((key) => [key, '']));

function ModelName({ values, networks, onChange }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  const message = useProblem('model');
  const typed = (text: string) => {
    setDraft(text);
    if (networks.some((n) => n.name === text)) onChange({ ...fresh, job: 'net:' + text });
  };
  const unknown = draft !== null && draft !== '' && !networks.some((n) => n.name === draft);
  const near = unknown ? networks.filter((n) => n.name.includes(draft.toLowerCase())).slice(0, 4) : [];
  const hint = unknown ? (near.length ? 'Names that contain it: ' + near.map((n) => n.name).join(', ') : 'The catalog has no such model. Drop its config.json below, or write it as YAML.') : '';
  return (
    <div class="field">
      <label for="model">Model</label>
      <input
        id="model"
        type="text"
        list="models"
        value={draft ?? networkName(values) ?? ''}
        placeholder={networkName(values) ? '' : 'a name, such as llama-3-8b'}
        autocomplete="off"
        spellcheck={false}
        onInput={(e) => typed(e.currentTarget.value)}
        onBlur={() => setDraft(null)}
        {...inputAttributes('model', 'model', message, hint)}
      />
      <datalist id="models">{networks.map((n) => <option key={n.name} value={n.name}>{n.title}</option>)}</datalist>
      {hint ? <small id="model-hint">{hint}</small> : null}
    </div>
  );
}

function Work({ values, layouts, onChange }: { values: Values; layouts: boolean; onChange: Props['onChange'] }) {
  const { unit, amount } = workOf(values, layouts);
  const [draft, setDraft] = useState<string | null>(null);
  const message = useProblem(unit);
  const shown = amount || (networkName(values) ? usualWork[unit] : '');
  const set = (to: Unit, text: string) => onChange({ tokens: '', epochs: '', iterations: '', work: to, [to]: text });
  return (
    <div class="field">
      <label for="work">Work</label>
      <span class="pair">
        <input
          id="work"
          type="text"
          value={draft ?? shown}
          placeholder="as in the job"
          autocomplete="off"
          onInput={(e) => { setDraft(e.currentTarget.value); set(unit, e.currentTarget.value); }}
          onBlur={() => setDraft(null)}
          {...inputAttributes(unit, 'work', message)}
        />
        <select aria-label="Unit of the work" value={unit} onChange={(e) => set(e.currentTarget.value as Unit, amount)}>
          {units.map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
      </span>
      <InputProblem id="work" message={message} />
    </div>
  );
}

function Layout({ values, onChange }: { values: Values; onChange: Props['onChange'] }) {
  const [chosen, choose] = useState(Object.keys(layoutFields).some((key) => values[key]));
  const clear = Object.fromEntries(Object.keys(layoutFields).map((key) => [key, '']));
  const labels: Record<string, string> = { tensor: 'Tensor', pipeline: 'Pipeline', context: 'Context', zero: 'ZeRO stage' };
  return (
    <>
      <div class="field">
        <label for="layout">Parallel layout</label>
        <select id="layout" value={chosen ? 'own' : 'auto'} onChange={(e) => { choose(e.currentTarget.value === 'own'); if (e.currentTarget.value === 'auto') onChange(clear); }}>
          <option value="auto">auto: the best is searched</option>
          <option value="own">fix some of it</option>
        </select>
      </div>
      {chosen ? (
        <div class="fields">
          {Object.entries(layoutFields).map(([key, field]) => (
            <Field key={key} field={field} label={labels[key] ?? key} placeholder="auto" value={values[key] ?? ''} onChange={(text) => onChange({ [key]: text })} />
          ))}
        </div>
      ) : null}
    </>
  );
}

/** What a file is: a job in YAML as it is; otherwise the document that the server makes of its bytes. */
async function jobOfFile(source: File): Promise<string> {
  if (/\.ya?ml(\.gz)?$/.test(source.name)) return textOf(source);
  const answer = await ask<Import>({ path: 'v1/import', body: source, type: 'application/octet-stream' });
  const file = answer.files[0];
  if (!file?.document || file.document_kind === 'cluster') throw { title: `${file?.title ?? 'The file'} does not describe a model.` };
  return file.document;
}

function ModelFile({ onChange }: { onChange: Props['onChange'] }) {
  const [status, setStatus] = useState('');
  const read = async (file: File) => {
    const name = file.name;
    try {
      const yaml = await jobOfFile(file);
      const large = /kind: transformer/.test(yaml) && !/^(batch|tokens|sequence):/m.test(yaml);
      onChange({ ...fresh, job: 'own', yaml: large ? yaml + 'sequence: 8192\nbatch: 4M tokens\n' : yaml, ...(large ? { tokens: usualWork.tokens } : {}) });
      setStatus(large ? `${name} is a transformer. A sequence of 8192 and a batch of 4M tokens are assumed.` : `${name} is used.`);
    } catch (error) {
      const problem = error as Problem;
      setStatus(`${name}: ${capital(problem.detail ?? problem.title)}`);
    }
  };
  return (
    <>
      <Upload id="model-file" label="Or drop a file here: config.json of Hugging Face, ONNX, or a job (.yaml)" accept=".json,.yaml,.yml,.onnx,.gz" onFile={read} />
      <p role="status" class="soft">{status}</p>
    </>
  );
}

export function ModelForm({ values, networks, onChange }: Props) {
  const wrong = useProblem('job') !== null;
  const layouts = hasLayouts(values, networks);
  const job = values.job ?? firstValues.job;
  return (
    <fieldset class="card">
      <legend>Model</legend>
      <ModelName values={values} networks={networks} onChange={onChange} />
      <Work values={values} layouts={layouts} onChange={onChange} />
      <div class="fields">
        <Field field="batch" label="Batch" placeholder="usual" value={values.batch ?? ''} onChange={(batch) => onChange({ batch })} />
        {layouts ? <Field field="sequence" label="Sequence" placeholder="usual" value={values.sequence ?? ''} onChange={(sequence) => onChange({ sequence })} /> : null}
        <Select field="precision" label="Precision" value={values.precision ?? ''} onChange={(precision) => onChange({ precision })}>
          <option value="">automatic</option>
          {precisions.map((name) => <option key={name} value={name}>{name}</option>)}
        </Select>
      </div>
      {layouts ? <Layout key={job} values={values} onChange={onChange} /> : null}
      <ModelFile onChange={onChange} />
      <Fold title="Examples, layers and formulas (YAML)" open={job === 'own' || wrong}>
        <div class="field">
          <label for="example">Start from an example</label>
          <select id="example" value={job?.startsWith('ex:') ? job : ''} onChange={(e) => onChange({ ...fresh, on: '', job: e.currentTarget.value })}>
            <option value="" disabled>choose one</option>
            {examples.map((e) => <option key={e.id} value={'ex:' + e.id}>{e.title}</option>)}
          </select>
        </div>
        <TextArea field="job" label="YAML of the job" rows={12} value={networkName(values) ? '' : jobText(values)} onChange={(yaml) => onChange({ ...(job === 'own' ? {} : { ...fresh, on: '' }), job: 'own', yaml })} />
      </Fold>
    </fieldset>
  );
}
