// A slider with a number input beside it. Positions are steps on a logarithmic scale.
import { useState } from 'preact/hooks';
import { plain } from './format';
import { InputProblem, inputAttributes, useProblem } from './ui';

export interface Range {
  key: string;
  /** The key of the job that the slider changes, as the server names it in a problem. */
  field: string;
  label: string;
  unit: string;
  low: number;
  high: number;
  whole?: boolean;
}

export const steps = 240;

export function toPosition(range: Range, value: number): number {
  const at = Math.log(value / range.low) / Math.log(range.high / range.low);
  return Math.round(steps * Math.min(1, Math.max(0, at)));
}

/** The value at a position, rounded to three digits. */
export function fromPosition(range: Range, position: number): number {
  const value = range.low * (range.high / range.low) ** (position / steps);
  const rounded = Number(value.toPrecision(3));
  return range.whole ? Math.max(1, Math.round(rounded)) : rounded;
}

interface SliderProps {
  range: Range;
  /** The value that was entered; empty means the value of the job. */
  value: string;
  /** The value of the job, if it is known. */
  own?: number;
  /** What the value is before a change, such as "as in the job". */
  source: string;
  /** Why the slider has no effect; undefined while it has one. */
  disabled?: string;
  onChange: (value: string) => void;
}

export function Slider({ range, value, own, source, disabled, onChange }: SliderProps) {
  const id = 'set-' + range.key;
  const set = value !== '' && Number.isFinite(Number(value));
  const shown = set ? Number(value) : own;
  const middle = Math.sqrt(range.low * range.high);
  const message = useProblem(range.field);
  const words = shown === undefined ? source : plain(shown, 6) + ' ' + range.unit;
  /** What is being typed; a number that was cleared stays empty until the focus leaves it. */
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? (value !== '' ? value : own === undefined ? '' : plain(own, 4));
  return (
    <div class="slider">
      <label for={id}>{range.label}</label>
      <span class="amount">
        <input
          id={id + '-number'}
          type="number"
          inputMode="decimal"
          min={0}
          step="any"
          value={text}
          disabled={!!disabled}
          aria-label={range.label + ', ' + range.unit}
          onInput={(e) => { setDraft(e.currentTarget.value); onChange(e.currentTarget.value); }}
          onBlur={() => setDraft(null)}
          {...inputAttributes(range.field, id, message)}
        />
        <span class="unit" aria-hidden="true">{range.unit}</span>
      </span>
      <input
        id={id}
        type="range"
        min={0}
        max={steps}
        step={1}
        value={toPosition(range, shown !== undefined && shown > 0 ? shown : middle)}
        disabled={!!disabled}
        aria-valuetext={words}
        onInput={(e) => onChange(plain(fromPosition(range, Number(e.currentTarget.value)), 6))}
      />
      <span class="below">
        <small class="soft">{disabled ?? (set ? 'changed' : source)}</small>
        {set && !disabled ? (
          <button type="button" class="plain" onClick={() => onChange('')} aria-label={`reset ${range.label}`}>
            reset
          </button>
        ) : null}
      </span>
      <InputProblem id={id} message={message} />
    </div>
  );
}
