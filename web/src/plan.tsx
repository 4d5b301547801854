// The view "How many?": a job, machines and sliders, and the answer with its charts.
import { useMemo } from 'preact/hooks';
import { useAnswer } from './api';
import { Chart } from './chart';
import { examples, firstJob, networkJob } from './examples';
import { factor, money, percent, plain, time, toCsv, type Row } from './format';
import { JobPicker } from './job_picker';
import type { Values } from './link';
import { MachinePicker } from './machines';
import { facts, type Facts } from './parse';
import { costSpec, headline, paretoSpec, planFacts, planRequest, sliderFields, speedupSpec, timeSpec } from './plan_answer';
import { Slider, type Range } from './slider';
import type { Catalog, CatalogEntry, Plan } from './types.gen';
import { capital, Download, Field, ProblemContext, Select, Table, useSettled, Wrong, type Column } from './ui';

const ranges: Range[] = [
  { key: 'batch', field: sliderFields.batch, label: 'Batch', unit: 'samples', low: 1, high: 1e6, whole: true },
  { key: 'bandwidth', field: sliderFields.bandwidth, label: 'Bandwidth', unit: 'Gbit/s', low: 0.1, high: 6400 },
  { key: 'latency', field: sliderFields.latency, label: 'Latency', unit: 'µs', low: 0.5, high: 100000 },
  { key: 'price', field: sliderFields.price, label: 'Price of a machine', unit: '$/h', low: 0.01, high: 200 },
];

const pointColumns: Column[] = [
  { key: 'n', label: 'workers', number: true },
  { key: 'time_s', label: 'iteration', text: time, number: true },
  { key: 'compute_s', label: 'computing', text: time, number: true },
  { key: 'communicate_s', label: 'communicating', text: time, number: true },
  { key: 'speedup', label: 'speedup', text: factor, number: true },
  { key: 'efficiency', label: 'efficiency', text: percent, number: true },
  { key: 'total_s', label: 'total', text: time, number: true },
  { key: 'cost', label: 'cost', text: money, number: true },
  { key: 'fits', label: 'fits', text: (fits: boolean) => (fits ? 'yes' : 'no') },
];

const pick = (...keys: string[]) => pointColumns.filter((column) => keys.includes(column.key));

export function jobText(values: Values): string {
  const job = values.job ?? firstJob;
  if (job.startsWith('net:')) return networkJob(job.slice(4));
  if (job.startsWith('ex:')) return examples.find((e) => 'ex:' + e.id === job)?.yaml ?? '';
  return values.yaml ?? '';
}

/** The values that sliders show before a change: those of the job, otherwise those of its machine. */
function ownValues(job: Facts, on: string | undefined, machines: CatalogEntry[]): Record<string, number | undefined> {
  const first = on?.split(',')[0];
  const machine = machines.find((m) => m.name === (first ?? job.machine));
  // Another machine keeps the job's own values where it has none.
  const own = first ? undefined : job;
  return {
    batch: job.batch,
    bandwidth: own?.bandwidth !== undefined ? own.bandwidth / 1e9 : machine?.bandwidth_bytes_per_s != null ? (8 * machine.bandwidth_bytes_per_s) / 1e9 : undefined,
    latency: own?.latency !== undefined ? own.latency * 1e6 : machine?.latency_s != null ? Number((machine.latency_s * 1e6).toPrecision(6)) : undefined,
    price: own?.price ?? machine?.price_per_h ?? job.price ?? undefined,
  };
}

interface ViewProps {
  values: Values;
  onChange: (changes: Values) => void;
}

function Answered({ plan }: { plan: Plan }) {
  const settled = useSettled(headline(plan), 400);
  const shown = planFacts(plan);
  return (
    <section class="card answer" aria-label="The answer">
      <p class="headline" data-test="headline">{headline(plan)}</p>
      <p class="hidden" role="status">{settled}</p>
      <dl>
        {shown.map((fact, i) => (
          <div key={i}>
            <dt>{i > 0 && shown[i - 1]?.name === fact.name ? <span class="hidden">{fact.name}</span> : fact.name}</dt>
            <dd>{fact.text}</dd>
          </div>
        ))}
      </dl>
      {plan.notes.length ? <ul class="notes">{plan.notes.map((note) => <li key={note}>{capital(note)}</li>)}</ul> : null}
    </section>
  );
}

const rankColumns: Column[] = [
  { key: 'machine', label: 'machine', text: (name: string | null) => name ?? 'the job’s own' },
  { key: 'n', label: 'workers', number: true },
  { key: 'time_s', label: 'iteration', text: time, number: true },
  { key: 'total_s', label: 'total', text: time, number: true },
  { key: 'cost', label: 'cost', text: money, number: true },
  { key: 'why', label: 'why not', text: (why: string | null) => why ?? 'best' },
];

function Charts({ plan }: { plan: Plan }) {
  const rows = plan.curve as unknown as Row[];
  const [cost, pareto] = [costSpec(plan), paretoSpec(plan)];
  return (
    <div class="charts">
      <Chart spec={speedupSpec(plan)} columns={pick('n', 'speedup', 'efficiency', 'fits')} rows={rows} file="speedup" />
      {cost ? (
        <Chart spec={cost} columns={pick('n', 'total_s', 'cost', 'fits')} rows={rows} file="cost" />
      ) : (
        <div class="card chart"><h2>Cost</h2><p class="soft">No price is known. Set a price to see the cost.</p></div>
      )}
      <Chart spec={timeSpec(plan)} columns={pick('n', 'time_s', 'compute_s', 'communicate_s')} rows={rows} file="time" />
      {pareto ? <Chart spec={pareto} columns={pick('n', 'total_s', 'cost')} rows={plan.pareto as unknown as Row[]} file="pareto" /> : null}
    </div>
  );
}

function Questions({ values, onChange }: ViewProps) {
  return (
    <details class="more" open={!!(values.goal || values.deadline || values.budget || values.max_n)}>
      <summary>Goal, deadline and budget</summary>
      <div class="fields">
        <Select field="goal" label="Goal" value={values.goal ?? ''} onChange={(goal) => onChange({ goal })}>
          <option value="">automatic</option>
          <option value="time">least time</option>
          <option value="cost">least cost</option>
          <option value="balance">balance of both</option>
        </Select>
        <Field field="deadline" label="Deadline" placeholder="6 h" value={values.deadline ?? ''} onChange={(deadline) => onChange({ deadline })} />
        <Field field="budget" label="Budget, $" placeholder="100" value={values.budget ?? ''} onChange={(budget) => onChange({ budget })} />
        <Field field="certainty" label="Met with" placeholder="90%" value={values.certainty ?? ''} onChange={(certainty) => onChange({ certainty })} />
        <Field field="max_n" label="Most workers" placeholder="64" value={values.max_n ?? ''} onChange={(max_n) => onChange({ max_n })} />
      </div>
    </details>
  );
}

export function PlanView({ values, onChange }: ViewProps) {
  const yaml = jobText(values);
  const job = useMemo(() => facts(yaml), [yaml]);
  const machines = useAnswer<Catalog>({ path: 'v1/catalog/machines' });
  const networks = useAnswer<Catalog>({ path: 'v1/catalog/networks' });
  const usable = (key: string) => key === 'price' || job.counted || new RegExp('\\b' + key + '\\b').test(yaml);
  const answer = useAnswer<Plan>(yaml.trim() ? { path: 'v1/plan', body: planRequest(values, yaml, usable) } : null);
  const own = ownValues(job, values.on, machines.value?.machines ?? []);
  const plan = answer.value;
  return (
    <ProblemContext.Provider value={answer.problem}>
      <div class="view">
        <div class="controls">
          <JobPicker values={values} yaml={yaml} networks={networks.value?.networks ?? []} onChange={onChange} />
          <MachinePicker own={job.machine} machines={machines.value?.machines ?? []} chosen={values.on ? values.on.split(',') : []} onChange={(on) => onChange({ on: on.join(',') })} />
          <fieldset class="card">
            <legend>What if?</legend>
            {ranges.map((range) => (
              <Slider
                key={range.key}
                range={range}
                value={values[range.key] ?? ''}
                own={own[range.key]}
                disabled={usable(range.key) ? undefined : 'the job’s formulas do not use it'}
                onChange={(value) => onChange({ [range.key]: value })}
              />
            ))}
            <Questions values={values} onChange={onChange} />
          </fieldset>
        </div>
        <div class={'results' + (answer.busy ? ' busy' : '')} aria-busy={answer.busy}>
          {answer.problem ? <Wrong problem={answer.problem} /> : null}
          {!yaml.trim() ? <p class="card soft">Choose a job, or paste one.</p> : null}
          {plan ? <Answered plan={plan} /> : null}
          {plan && plan.ranking.length > 1 ? (
            <section class="card">
              <h2>Machines compared</h2>
              <Table name="machines compared" columns={rankColumns} rows={plan.ranking as unknown as Row[]} />
            </section>
          ) : null}
          {plan ? <Charts plan={plan} /> : null}
          {plan ? (
            <p class="row">
              <Download name="plan.json" type="application/json" label="JSON" of="the answer" text={() => JSON.stringify(plan, null, 2) + '\n'} />
              <Download name="plan.csv" type="text/csv" label="CSV" of="the curve" text={() => toCsv(Object.keys(plan.curve[0] ?? {}), plan.curve as unknown as Row[])} />
              <span class="soft">{plain(plan.curve.length)} points</span>
            </p>
          ) : null}
        </div>
        {plan ? <p class="dock" aria-hidden="true">{headline(plan)}</p> : null}
      </div>
    </ProblemContext.Provider>
  );
}
