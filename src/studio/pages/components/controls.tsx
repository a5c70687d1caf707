import type { Signal } from '@preact/signals';
import type { ButtonHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

/** What puts a value into a signal. */
export const into =
  <Value,>(signal: Signal<Value>) =>
  (value: Value): void => {
    signal.value = value;
  };

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'class' | 'ref'> {
  /** Default: a framed one. A `link` looks like one and does something here. */
  look?: 'primary' | 'quiet' | 'quiet danger' | 'link';
}

/** A button that sends no form unless its `type` says so. */
export const Button = ({ look, ...button }: ButtonProps) => (
  <button type="button" {...button} class={look === 'link' ? 'link' : look ? `button ${look}` : 'button'} />
);

/** Takes a line of a list away: a small cross at the line's end. */
export const RemoveButton = ({ label, onClick }: { label: string; onClick(): void }) => (
  <button type="button" class="button quiet remove" aria-label={label} title={label} onClick={onClick}>
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d="M3 3l10 10M13 3L3 13" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" />
    </svg>
  </button>
);

export interface Option<Value extends string = string> {
  value: Value;
  name: string;
}

interface SelectProps<Value extends string> {
  id?: string;
  /** Where no label stands beside it. */
  'aria-label'?: string;
  'aria-invalid'?: boolean;
  'aria-describedby'?: string;
  options: readonly Option<Value>[];
  value: Value;
  onChoose(value: Value): void;
}

/** One choice of many. */
export const Select = <Value extends string>({ options, onChoose, ...select }: SelectProps<Value>) => (
  <select {...select} onChange={(event) => onChoose(event.currentTarget.value as Value)}>
    {options.map(({ value, name }) => (
      <option key={value} value={value}>
        {name}
      </option>
    ))}
  </select>
);

interface CheckBoxesProps<Value extends string> {
  options: readonly Option<Value>[];
  chosen: readonly Value[];
  onChoose(chosen: Value[]): void;
}

/** Any of a few. */
export const CheckBoxes = <Value extends string>({ options, chosen, onChoose }: CheckBoxesProps<Value>) => (
  <div class="row choices">
    {options.map(({ value, name }) => (
      <label key={value} class="check-label">
        <input
          type="checkbox"
          checked={chosen.includes(value)}
          onChange={(event) => {
            const others = chosen.filter((each) => each !== value);
            onChoose(event.currentTarget.checked ? [...others, value] : others);
          }}
        />
        {name}
      </label>
    ))}
  </div>
);

interface SegmentsProps<Value extends string> {
  label: string;
  options: readonly Option<Value>[];
  chosen: Value;
  onChoose(value: Value): void;
  isLabelHidden?: boolean;
}

/** One choice of a few, side by side: radio buttons, so that arrow keys and screen readers know them. */
export const Segments = <Value extends string>(props: SegmentsProps<Value>) => {
  const { label, options, chosen, onChoose, isLabelHidden = false } = props;
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class={isLabelHidden ? 'visually-hidden' : undefined}>{label}</legend>
      <div class="segments-row">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === chosen}
              onChange={() => onChoose(option.value)}
            />
            <span>{option.name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
};
