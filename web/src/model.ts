// The model and the amount of work: what the inputs mean, as parts of a request. Pure functions.
import { examples } from './examples';
import type { Values } from './link';
import type { CatalogEntry } from './types.gen';

export const units = ['tokens', 'epochs', 'iterations'] as const;
export type Unit = (typeof units)[number];

export const precisions = ['fp32', 'tf32', 'bf16', 'fp16', 'fp8'];

/** The inputs of the layout of a transformer, and the keys of the job that they set. */
export const layoutFields = { tensor: 'parallel.tensor', pipeline: 'parallel.pipeline', context: 'parallel.context', zero: 'parallel.zero' } as const;

/** The values of the page when it is opened without a link: a model, machines to compare, and an amount of work. */
export const firstValues: Values = { job: 'net:gpt-2', tokens: '300B', on: 'p4d.24xlarge,p5.48xlarge,g5.48xlarge' };

/** What a change of the model removes: all that describes the previous one. */
export const modelKeys = ['batch', 'sequence', 'precision', 'bandwidth', 'latency', 'price', 'yaml', 'work', ...units, ...Object.keys(layoutFields)];

export function networkName(values: Values): string | undefined {
  const job = values.job ?? firstValues.job;
  return job?.startsWith('net:') ? job.slice(4) : undefined;
}

/** The text of the job: the name of a network of the catalog, or YAML. */
export function jobText(values: Values): string {
  const job = values.job ?? firstValues.job ?? '';
  if (job.startsWith('ex:')) return examples.find((e) => 'ex:' + e.id === job)?.yaml ?? '';
  return networkName(values) ?? values.yaml ?? '';
}

/** Whether layouts are searched for a job: a network of the catalog whose parameters depend on the layout, or a transformer in YAML. */
export function hasLayouts(values: Values, networks: CatalogEntry[]): boolean {
  const name = networkName(values);
  if (name) return networks.some((n) => n.name === name && typeof n.active_parameters === 'number');
  return /^\s*(kind:\s*transformer|sequence:|hidden_size)/m.test(values.yaml ?? '');
}

/** The unit and amount that are set; a network of the catalog without an amount gets a usual one. */
export function workOf(values: Values, layouts: boolean): { unit: Unit; amount: string } {
  const set = units.find((unit) => values[unit]);
  if (set) return { unit: set, amount: values[set] as string };
  const name = networkName(values);
  const unit = (values.work as Unit | undefined) ?? (layouts || /^(gpt|bert)-/.test(name ?? '') ? 'tokens' : name === undefined ? 'iterations' : /resnet|vgg|inception|alexnet|efficientnet|mobilenet|densenet/.test(name) ? 'epochs' : 'iterations');
  return { unit, amount: '' };
}

/** What is asked when a network of the catalog has no amount of work. */
export const usualWork: Record<Unit, string> = { tokens: '100B', epochs: '90', iterations: '100000' };
