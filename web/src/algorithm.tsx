// To come.
import type { Values } from './link';

export function AlgorithmView(_: { values: Values; onChange: (changes: Values) => void }) {
  return <p class="card soft">This view comes soon.</p>;
}
