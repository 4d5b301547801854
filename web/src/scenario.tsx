// Two scenarios side by side: one that was kept, and the present one.
import { useAnswer } from './api';
import type { Row } from './format';
import { readLink, writeLink, type Values } from './link';
import { planRequestOf, scenarioRows } from './plan_answer';
import type { CatalogEntry, Plan } from './types.gen';
import { capital, Table, type Column } from './ui';

interface Props {
  values: Values;
  plan: Plan;
  networks: CatalogEntry[];
  onChange: (changes: Values) => void;
}

const columns: Column[] = [
  { key: 'what', label: 'scenario' },
  { key: 'kept', label: 'A, kept' },
  { key: 'now', label: 'B, now' },
  { key: 'change', label: 'B against A' },
];

/** The values of a scenario as a text that fits into a link. */
function kept(values: Values): string {
  const { kept: _, ...own } = values;
  return writeLink({ view: 'plan', values: own });
}

function SideBySide({ values, plan, networks, onChange }: Props) {
  const before = readLink(values.kept ?? '').values;
  const answer = useAnswer<Plan>({ path: 'v1/plan', body: planRequestOf(before, networks) }, 0, 200);
  return (
    <section class="card" aria-label="Two scenarios">
      <h2>Two scenarios</h2>
      {answer.problem ? <p class="invalid">The kept scenario has no answer: {capital(answer.problem.detail ?? answer.problem.title)}</p> : null}
      {answer.value ? <Table name="two scenarios" columns={columns} rows={scenarioRows(before, answer.value, values, plan) as unknown as Row[]} still /> : null}
      <p class="row">
        <button type="button" class="small" onClick={() => onChange({ ...Object.fromEntries(Object.keys(values).map((key) => [key, ''])), ...before, kept: kept(values) })}>Exchange A and B</button>
        <button type="button" class="small" onClick={() => onChange({ kept: '' })}>Stop comparing</button>
      </p>
    </section>
  );
}

export function Scenario(props: Props) {
  if (props.values.kept) return <SideBySide {...props} />;
  return (
    <p class="row">
      <button type="button" class="small" onClick={() => props.onChange({ kept: kept(props.values) })}>Keep this as scenario A, and change it</button>
    </p>
  );
}
