import type { DraftCheck } from '../../server/draft-check.ts';
import { describedBy, Field, hasError } from './field.tsx';

interface NumberFieldProps {
  id: string;
  label: string;
  help?: string;
  checks?: readonly DraftCheck[];
  value: number | null | undefined;
  min?: number;
  max?: number;
  /** Fractions are taken as well. */
  isFraction?: boolean;
  /** `null` of an empty field, and of a number below the least. */
  onChange(value: number | null): void;
}

/** A number that may be left out. */
export const NumberField = (props: NumberFieldProps) => {
  const { id, label, help, checks = [], value, min = 0, max, isFraction = false, onChange } = props;
  return (
    <Field id={id} label={label} help={help} checks={checks}>
      <input
        id={id}
        type="number"
        min={min}
        max={max}
        step={isFraction ? 'any' : 1}
        value={value ?? ''}
        aria-invalid={hasError(checks)}
        aria-describedby={describedBy(id)}
        onInput={(event) => {
          const typed = event.currentTarget.valueAsNumber;
          const number = isFraction ? typed : Math.floor(typed);
          onChange(number >= min ? number : null);
        }}
      />
    </Field>
  );
};
