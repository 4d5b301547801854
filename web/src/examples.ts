// Example jobs to start from.
import alexnet from '../../examples/alexnet.yaml?raw';
import fig1 from '../../examples/fig1.yaml?raw';
import fig2 from '../../examples/fig2-spark-ann.yaml?raw';
import fig3 from '../../examples/fig3-inception.yaml?raw';
import linear from '../../examples/generic-linear.yaml?raw';
import gpt2 from '../../examples/gpt2.yaml?raw';
import logistic from '../../examples/logistic-ctr.yaml?raw';
import resnet50 from '../../examples/resnet50.yaml?raw';
import speech from '../../examples/speech.yaml?raw';
import { facts } from './parse';

const texts: Record<string, string> = { gpt2, resnet50, fig2, fig3, alexnet, speech, logistic, fig1, linear };

/** The job without the keys that only `howmany validate` reads. */
function trimmed(text: string): string {
  return text.replace(/^(expect|measured):.*\n(?:[ \t].*\n?)*/gm, '');
}

export const examples = Object.entries(texts).map(([id, text]) => ({
  id,
  title: facts(text).name ?? id,
  yaml: trimmed(text),
}));
