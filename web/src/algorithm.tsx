// The view "Which algorithm?": traces and a loss, and the advice with convergence curves.
import { useMemo } from 'preact/hooks';
import { adviceFacts, adviceLine, adviseRequest, candidateSpec, chosenTraces, convergenceSpec, readTraces, whys } from './advice';
import { useAnswer } from './api';
import { Chart } from './chart';
import { money, number, percent, plain, time, toCsv, type Row } from './format';
import type { Values } from './link';
import sample from './sample-traces.csv?raw';
import type { Advise } from './types.gen';
import { capital, Download, Field, ProblemContext, Select, Table, TextArea, useProblem, useSettled, Wrong, type Column } from './ui';
import { Upload } from './upload';

interface ViewProps {
  values: Values;
  onChange: (changes: Values) => void;
}

const candidateColumns: Column[] = [
  { key: 'algorithm', label: 'algorithm' },
  { key: 'n', label: 'workers', number: true },
  { key: 'time_s', label: 'time', text: time, number: true },
  { key: 'low_s', label: 'from', text: time, number: true },
  { key: 'high_s', label: 'to', text: time, number: true },
  { key: 'iterations', label: 'iterations', text: (v: number | null) => number(v), number: true },
  { key: 'iteration_s', label: 'an iteration', text: time, number: true },
  { key: 'loss', label: 'loss', text: (v: number | null) => number(v), number: true },
  { key: 'cost', label: 'cost', text: money, number: true },
  { key: 'probability', label: 'probability', text: percent, number: true },
  { key: 'why', label: 'why', text: (why: string | null) => (why ? (whys[why] ?? why) : '') },
];

const traceColumns: Column[] = [
  { key: 'algorithm', label: 'algorithm' },
  { key: 'm', label: 'workers', number: true },
  { key: 'iteration', label: 'iteration', number: true },
  { key: 'seconds', label: 'time', text: time, number: true },
  { key: 'loss', label: 'loss above the best', text: (v: number) => plain(v, 4), number: true },
];

function Controls({ values, onChange, text }: ViewProps & { text: string }) {
  const stored = values.from === 'store';
  const own = stored ? "The traces of the server's store." : values.traces ? 'Your own traces.' : 'Example traces: four algorithms on MNIST.';
  return (
    <div class="controls">
      <fieldset class="card">
        <legend>Question</legend>
        <div class="fields">
          <Field field="loss" label="Loss above the best" value={values.loss ?? (values.within || values.budget ? '' : '1e-3')} onChange={(loss) => onChange({ loss })} placeholder="1e-4" />
          <Field field="within" label="Within" placeholder="60 s" value={values.within ?? ''} onChange={(within) => onChange({ within })} />
          <Field field="price" label="Price of a worker, $/h" placeholder="0.5" value={values.price ?? ''} onChange={(price) => onChange({ price })} />
          <Select field="goal" label="Goal" value={values.goal ?? ''} onChange={(goal) => onChange({ goal })}>
            <option value="">least time</option>
            <option value="cost">least cost</option>
          </Select>
          <Field field="m" label="Workers to choose from" placeholder="1..256" value={values.m ?? ''} onChange={(m) => onChange({ m })} />
        </div>
      </fieldset>
      <fieldset class="card">
        <legend>Traces</legend>
        <p class="soft">{own}</p>
        <p class="row">
          {stored ? null : <button type="button" onClick={() => onChange({ from: 'store', traces: '' })}>Use the traces of the server</button>}
          {stored || values.traces ? <button type="button" class="plain" onClick={() => onChange({ traces: '', from: '' })}>Back to the example</button> : null}
        </p>
        <Upload id="trace-file" label="Open a file (.csv, .jsonl, .gz)" accept=".csv,.jsonl,.json,.txt,.gz" onText={(traces) => onChange({ traces, from: '' })} />
        <details open={useProblem('traces') !== null}>
          <summary>Edit the traces, or paste others</summary>
          <TextArea field="traces" label="Text of the traces" hint="Columns: algorithm, m, iteration, seconds, loss." rows={10} value={text} onChange={(traces) => onChange({ traces, from: '' })} />
        </details>
      </fieldset>
    </div>
  );
}

function Advised({ advice }: { advice: Advise }) {
  const line = adviceLine(advice);
  const settled = useSettled(line, 400);
  const facts = adviceFacts(advice);
  return (
    <section class="card answer" aria-label="The advice">
      <p class="headline" data-test="headline">{line}</p>
      <p class="hidden" role="status">{settled}</p>
      <dl>
        {facts.map((fact, i) => (
          <div key={i}>
            <dt>{i > 0 && facts[i - 1]?.name === fact.name ? <span class="hidden">{fact.name}</span> : fact.name}</dt>
            <dd>{fact.text}</dd>
          </div>
        ))}
      </dl>
      {advice.notes.length ? <ul class="notes">{advice.notes.map((note) => <li key={note}>{capital(note)}</li>)}</ul> : null}
    </section>
  );
}

function Curves({ advice, text, values, onChange }: ViewProps & { advice: Advise; text: string }) {
  const traces = useMemo(() => readTraces(text), [text]);
  const convergence = convergenceSpec(traces, advice, values.by === 'iterations');
  const candidates = candidateSpec(advice);
  const rows = chosenTraces(traces, advice).flatMap((t) =>
    t.iterations.map((iteration, i) => ({ algorithm: t.algorithm, m: t.m, iteration, seconds: t.seconds[i], loss: (t.losses[i] as number) - (advice.best_loss ?? 0) })),
  );
  return (
    <>
      <div class="field inline">
        <label for="by">Curves over</label>
        <select id="by" value={values.by ?? ''} onChange={(e) => onChange({ by: e.currentTarget.value })}>
          <option value="">time</option>
          <option value="iterations">iterations</option>
        </select>
      </div>
      <div class="charts">
        {convergence ? (
          <Chart spec={convergence} columns={traceColumns} rows={rows} file="convergence" />
        ) : (
          <p class="card soft">Curves are drawn for tables with the columns algorithm, m, iteration, seconds and loss.</p>
        )}
        {candidates ? <Chart spec={candidates} columns={candidateColumns.slice(0, 5)} rows={advice.candidates as unknown as Row[]} file="candidates" /> : null}
      </div>
    </>
  );
}

export function AlgorithmView({ values, onChange }: ViewProps) {
  const fromStore = values.from === 'store';
  const stored = useAnswer<string>(fromStore ? { path: 'v1/traces', text: true } : null);
  const text = fromStore ? (stored.value ?? '') : (values.traces ?? sample);
  const question = values.loss || values.within || values.budget ? values : { ...values, loss: '1e-3' };
  const answer = useAnswer<Advise>({ path: 'v1/advise', body: adviseRequest(question, fromStore ? undefined : text) }, 0, 200);
  const advice = answer.value;
  const columns = candidateColumns.filter(({ key }) => advice?.candidates.some((c) => c[key as keyof typeof c] !== null) && !(key === 'loss' && advice.loss !== null));
  return (
    <ProblemContext.Provider value={answer.problem}>
      <div class="view">
        <Controls values={values} onChange={onChange} text={text} />
        <div class={'results' + (answer.busy ? ' busy' : '')} aria-busy={answer.busy}>
          {answer.problem ? <Wrong problem={answer.problem} /> : null}
          {advice ? <Advised advice={advice} /> : null}
          {advice ? <Curves advice={advice} text={text} values={values} onChange={onChange} /> : null}
          {advice ? (
            <section class="card">
              <h2>All candidates</h2>
              <Table name="all candidates" columns={columns} rows={advice.candidates as unknown as Row[]} mark={(row) => (row === (advice.candidates[0] as unknown) ? 'best' : undefined)} />
              <p class="row">
                <Download name="advice.json" type="application/json" label="JSON" of="the advice" text={() => JSON.stringify(advice, null, 2) + '\n'} />
                <Download name="advice.csv" type="text/csv" label="CSV" of="the candidates" text={() => toCsv(Object.keys(advice.candidates[0] ?? {}), advice.candidates as unknown as Row[])} />
              </p>
            </section>
          ) : null}
        </div>
        {advice ? <p class="dock" aria-hidden="true">{adviceLine(advice)}</p> : null}
      </div>
    </ProblemContext.Provider>
  );
}
