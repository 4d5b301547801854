// The view "How many?": a model, limits and machines, and the answer with its choices, charts and comparisons.
import { useEffect, useMemo } from 'preact/hooks';
import { useAnswer, useAnswers } from './api';
import { Cards } from './cards';
import { Chart } from './chart';
import type { Spec } from './chart_spec';
import { factor, money, percent, plain, time, toCsv, type Row } from './format';
import { writeLink, type Values } from './link';
import { MachinePicker } from './machines';
import { firstValues, jobText, networkName } from './model';
import { ModelForm } from './model_form';
import { facts, type Facts } from './parse';
import { headline, isUsed, ofOneMachine, planFacts, planRequestOf, sliderFields } from './plan_answer';
import { costSpec, machineSpec, paretoSpec, speedupSpec, timeSpec } from './plan_charts';
import { report } from './report';
import { Scenario } from './scenario';
import { Slider, type Range } from './slider';
import type { Catalog, CatalogEntry, Plan, PlanRequest, Rank } from './types.gen';
import { capital, Download, Field, Fold, ProblemContext, Select, Table, useSettled, Wrong, type Column } from './ui';

const ranges: Range[] = [
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

/** The values that sliders show before a change: those of the job, otherwise those of its machine; of several machines none. */
function ownValues(job: Facts, on: string[], machines: CatalogEntry[]): Record<string, number | undefined> {
  if (on.length > 1) return {};
  const machine = machines.find((m) => m.name === (on[0] ?? job.machine));
  // Another machine keeps the job's own values where it has none.
  const own = on.length ? undefined : job;
  return {
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
  useEffect(() => void performance.mark('answer'), []); // A test measures how long the first answer takes.
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

/** The charts of an answer, for the page and for the report. */
function specsOf(plan: Plan, ranking: Rank[]): Spec[] {
  return [machineSpec(ranking, plan.total_of === 'job'), paretoSpec(plan), speedupSpec(plan), costSpec(plan), timeSpec(plan)].filter((spec): spec is Spec => spec !== null);
}

function Charts({ plan, ranking }: { plan: Plan; ranking: Rank[] }) {
  const rows = plan.curve as unknown as Row[];
  const [machines, cost, pareto] = [machineSpec(ranking, plan.total_of === 'job'), costSpec(plan), paretoSpec(plan)];
  return (
    <div class="charts">
      {machines ? <Chart spec={machines} columns={rankColumns} rows={ranking as unknown as Row[]} file="machines" /> : null}
      {pareto ? <Chart spec={pareto} columns={pick('n', 'total_s', 'cost')} rows={plan.pareto as unknown as Row[]} file="pareto" /> : null}
      <Chart spec={speedupSpec(plan)} columns={pick('n', 'speedup', 'efficiency', 'fits')} rows={rows} file="speedup" />
      {cost ? (
        <Chart spec={cost} columns={pick('n', 'total_s', 'cost', 'fits')} rows={rows} file="cost" />
      ) : (
        <div class="card chart"><h2>Cost</h2><p class="soft">No price is known. Set a price to see the cost.</p></div>
      )}
      <Chart spec={timeSpec(plan)} columns={pick('n', 'time_s', 'compute_s', 'communicate_s')} rows={rows} file="time" />
    </div>
  );
}

/** The machines that are compared. The answer for a network with layouts names only the best one, so each is asked for alone. */
function useRanking(plan: Plan | null, request: PlanRequest | null): Rank[] {
  const names = Array.isArray(request?.on) ? (request.on as string[]) : [];
  const alone = plan && !plan.ranking.length && names.length > 1 ? names : [];
  const answers = useAnswers<Plan>(alone.map((name) => ({ path: 'v1/plan', body: { ...request, on: [name] } })));
  if (!alone.length) return plan?.ranking ?? [];
  return alone.flatMap((machine, i) => {
    const answer = answers[i];
    if (!answer) return [];
    const point = answer.recommended;
    const why = point ? (plan?.machine === machine ? null : point.total_s > (plan?.recommended?.total_s ?? 0) ? `${factor(point.total_s / (plan?.recommended?.total_s ?? 1))} the time` : 'costs more') : `nothing meets the ${answer.missed ?? 'limits'}`;
    return [{ machine, scheme: null, feasible: point !== null, n: point?.n ?? null, time_s: point?.time_s ?? null, speedup: point?.speedup ?? null, total_s: point?.total_s ?? null, cost: point?.cost ?? null, why } as Rank];
  });
}

function Limits({ values, onChange }: ViewProps) {
  return (
    <fieldset class="card">
      <legend>Limits</legend>
      <div class="fields">
        <Field field="deadline" label="Deadline" placeholder="none, or 6 h" value={values.deadline ?? ''} onChange={(deadline) => onChange({ deadline })} />
        <Field field="budget" label="Budget, $" placeholder="none" value={values.budget ?? ''} onChange={(budget) => onChange({ budget })} />
        <Field field="cluster.max_nodes" label="Machines, at most" placeholder="any" value={values.nodes ?? ''} onChange={(nodes) => onChange({ nodes })} />
        <Select field="goal" label="Goal" value={values.goal ?? ''} onChange={(goal) => onChange({ goal })}>
          <option value="">automatic</option>
          <option value="time">least time</option>
          <option value="cost">least cost</option>
          <option value="balance">balance of both</option>
        </Select>
      </div>
      <Fold title="Certainty, and workers" open={!!(values.certainty || values.max_n)}>
        <div class="fields">
          <Field field="certainty" label="Limits met with" placeholder="90%" value={values.certainty ?? ''} onChange={(certainty) => onChange({ certainty })} />
          <Field field="max_n" label="Workers, at most" placeholder="any" value={values.max_n ?? ''} onChange={(max_n) => onChange({ max_n })} />
        </div>
      </Fold>
    </fieldset>
  );
}

/** Whether the controls are beside the answer, so that their length does not matter. */
const isWide = window.matchMedia('(min-width: 60rem)').matches;

function WhatIf({ values, onChange, machines }: ViewProps & { machines: CatalogEntry[] }) {
  const job = facts(networkName(values) ? '' : jobText(values));
  const on = values.on ? values.on.split(',') : job.machine ? [] : networkName(values) ? ['p5.48xlarge'] : [];
  const own = ownValues(job, on, machines);
  const source = (value: number | undefined) => (on.length > 1 ? 'each machine has its own' : value === undefined ? 'not in the job' : on.length ? 'as in the catalog' : 'as in the job');
  return (
    <fieldset class="card">
      <legend>What if?</legend>
      <Fold title="Other links, another price" open={isWide || ranges.some((range) => values[range.key])}>
        {ranges.map((range) => (
          <Slider
            key={range.key}
            range={range}
            value={values[range.key] ?? ''}
            own={own[range.key]}
            source={source(own[range.key])}
            disabled={isUsed(range.key, values) ? undefined : 'the job’s formulas do not use it'}
            onChange={(value) => onChange({ [range.key]: value })}
          />
        ))}
      </Fold>
    </fieldset>
  );
}

function Downloads({ plan, ranking, values, request }: { plan: Plan; ranking: Rank[]; values: Values; request: PlanRequest }) {
  const address = () => location.href.split('#')[0] + writeLink({ view: 'plan', values });
  return (
    <p class="row">
      <Download name="howmany.html" type="text/html" label="Report" of="everything, one HTML file," text={() => report(plan, specsOf(plan, ranking), JSON.stringify(request, null, 2), address())} />
      <Download name="plan.json" type="application/json" label="JSON" of="the answer" text={() => JSON.stringify(plan, null, 2) + '\n'} />
      <Download name="plan.csv" type="text/csv" label="CSV" of="the curve" text={() => toCsv(Object.keys(plan.curve[0] ?? {}), plan.curve as unknown as Row[])} />
      <span class="soft">{plain(plan.curve.length)} points</span>
    </p>
  );
}

function Results({ plan, ranking }: { plan: Plan; ranking: Rank[] }) {
  return (
    <>
      <Cards plan={plan} />
      <Answered plan={plan} />
      {ranking.length > 1 ? (
        <section class="card">
          <h2>Machines compared</h2>
          <Table name="machines compared" columns={rankColumns} rows={ranking as unknown as Row[]} />
        </section>
      ) : null}
    </>
  );
}

export function PlanView({ values: given, onChange: set }: ViewProps) {
  const values = given.job ? given : { ...firstValues, ...given };
  const onChange = (changes: Values) => set(given.job ? changes : { ...values, ...changes });
  const machines = useAnswer<Catalog>({ path: 'v1/catalog/machines' });
  const networks = useAnswer<Catalog>({ path: 'v1/catalog/networks' });
  const known = networks.value?.networks ?? [];
  const isReady = jobText(values).trim() !== '';
  const request = isReady ? planRequestOf(values, known) : null;
  const answer = useAnswer<Plan>(request ? { path: 'v1/plan', body: request } : null);
  const whole = answer.value;
  const plan = useMemo(() => whole && ofOneMachine(whole), [whole]);
  const ranking = useRanking(plan, request);
  return (
    <ProblemContext.Provider value={answer.problem}>
      <div class="view">
        <div class="controls">
          <ModelForm values={values} networks={known} onChange={onChange} />
          <Limits values={values} onChange={onChange} />
          <WhatIf values={values} onChange={onChange} machines={machines.value?.machines ?? []} />
        </div>
        <div class={'results' + (answer.busy ? ' busy' : '')} aria-busy={answer.busy}>
          {answer.problem ? <Wrong problem={answer.problem} /> : null}
          {!isReady ? <p class="card soft">Name a model, drop its config.json, or start from an example.</p> : null}
          {plan && answer.problem ? <p class="soft">Below is the last answer, to the values before this.</p> : null}
          {plan ? <Results plan={plan} ranking={ranking} /> : null}
          <MachinePicker own={facts(jobText(values)).machine} machines={machines.value?.machines ?? []} chosen={values.on ? values.on.split(',') : []} onChange={(on) => onChange({ on: on.join(',') })} />
          {plan ? <Scenario values={values} plan={plan} networks={known} onChange={onChange} /> : null}
          {plan ? <Charts plan={plan} ranking={ranking} /> : null}
          {plan && request ? <Downloads plan={plan} ranking={ranking} values={values} request={request} /> : null}
        </div>
        {plan ? <p class="dock" aria-hidden="true">{headline(plan)}</p> : null}
      </div>
    </ProblemContext.Provider>
  );
}
