import type { Signal } from '@preact/signals';
import type { ButtonHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

/** Returns an input handler that sets a signal. */
export const into =
  <Value,>(signal: Signal<Value>) =>
  (value: Value): void => {
    signal.value = value;
  };

/**
 * Focuses an element that the current event has added, by its ID. Runs before the next event, because a timer could take the
 * focus from a field that the user has entered in the meantime.
 */
export const focusOnceRendered = (id: string): void =>
  // Preact renders in a microtask, too.
  queueMicrotask(() => document.getElementById(id)?.focus());

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'class' | 'ref'> {
  /** Style of the button. Default: outlined. `link` is a button that looks like a link. */
  look?: 'primary' | 'quiet' | 'quiet danger' | 'link';
}

/** Button with `type="button"` by default, so that it submits no form. */
export const Button = ({ look, ...button }: ButtonProps) => (
  <button type="button" {...button} class={look === 'link' ? 'link' : look ? `button ${look}` : 'button'} />
);

/** Button with a cross that removes its row. */
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
  /** Label for screen readers. Required if there is no visible label. */
  'aria-label'?: string;
  'aria-invalid'?: boolean;
  'aria-describedby'?: string;
  options: readonly Option<Value>[];
  value: Value;
  onChoose(value: Value): void;
}

export const Select = <Value extends string>({ options, onChoose, ...select }: SelectProps<Value>) => (
  <select
    {...select}
    onChange={({ currentTarget }) => {
      const option = options.find(({ value }) => value === currentTarget.value);
      if (option) onChoose(option.value);
    }}
  >
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

/** Checkboxes for a few options. */
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

/** Segmented control, built on radio buttons for arrow keys and screen readers. */
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
