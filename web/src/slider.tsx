// A range with a number beside it. Positions are steps on a logarithmic scale.
import { plain } from './format';

export interface Range {
  key: string;
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

/** Two digits and a half: 1, 1.05 … would be too many, so three digits. */
export function fromPosition(range: Range, position: number): number {
  const value = range.low * (range.high / range.low) ** (position / steps);
  const rounded = Number(value.toPrecision(3));
  return range.whole ? Math.max(1, Math.round(rounded)) : rounded;
}

interface SliderProps {
  range: Range;
  /** What is set; empty: as the job has it. */
  value: string;
  /** What the job has, if that can be told. */
  own?: number;
  disabled?: string;
  onChange: (value: string) => void;
}

export function Slider({ range, value, own, disabled, onChange }: SliderProps) {
  const id = 'set-' + range.key;
  const set = value !== '' && Number.isFinite(Number(value));
  const shown = set ? Number(value) : own;
  const middle = Math.sqrt(range.low * range.high);
  const words = shown === undefined ? 'as the job has it' : plain(shown, 6) + ' ' + range.unit;
  const text = value !== '' ? value : own === undefined ? '' : plain(own, 4);
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
          onInput={(e) => onChange(e.currentTarget.value)}
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
        <small class="soft">{disabled ?? (set ? 'changed' : own === undefined ? 'not said in the job' : 'as in the job')}</small>
        {set && !disabled ? (
          <button type="button" class="plain" onClick={() => onChange('')} aria-label={range.label + ': back to the job’s own'}>
            reset
          </button>
        ) : null}
      </span>
    </div>
  );
}
