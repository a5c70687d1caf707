import type { DraftCheck } from '../../server/draft-check.ts';
import { describedBy, Field, hasError } from './field.tsx';

interface ListFieldProps {
  id: string;
  label: string;
  help: string;
  checks?: readonly DraftCheck[];
  values: readonly string[];
  onChange(values: string[]): void;
}

/** Several short texts in one line, separated by commas. They are taken over when the field is left. */
export const ListField = ({ id, label, help, checks = [], values, onChange }: ListFieldProps) => (
  <Field id={id} label={label} help={help} checks={checks}>
    <input
      id={id}
      key={values.join()}
      defaultValue={values.join(', ')}
      autoComplete="off"
      aria-invalid={hasError(checks)}
      aria-describedby={describedBy(id)}
      onChange={(event) =>
        onChange(
          event.currentTarget.value
            .split(',')
            .map((each) => each.trim())
            .filter((each) => each !== ''),
        )
      }
    />
  </Field>
);
