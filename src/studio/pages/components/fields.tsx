import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { fromZoned, toZoned } from '../../campaign/zoned-time.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import { signedIn } from '../shell/session.ts';
import { type Option, Select } from './controls.tsx';

interface FieldProps {
  id: string;
  label: ComponentChildren;
  help?: ComponentChildren;
  /** Content next to the label, for example a button that fills in the field. */
  aside?: ComponentChildren;
  checks?: readonly DraftCheck[];
  /** Called on blur. */
  onLeave?: () => void;
  children: ComponentChildren;
}

/** Returns the IDs of the problem and the help text of a field, for `aria-describedby`. */
export const describedBy = (id: string): string => `${id}-problem ${id}-help`;

/** Returns the checks of a path in the campaign. */
export const checksAt = (checks: readonly DraftCheck[], ...path: (string | number)[]): DraftCheck[] =>
  checks.filter((check) => path.every((step, index) => check.path[index] === step));

export const hasError = (checks: readonly DraftCheck[]): boolean =>
  checks.some(({ severity }) => severity === 'error');

/** List of checks with errors first. */
export const IssueList = ({ checks }: { checks: readonly DraftCheck[] }) => (
  <>
    {checks.map(({ severity, message }) => (
      <p key={message} class={severity === 'error' ? 'field-problem' : 'field-warning'}>
        {message}
      </p>
    ))}
  </>
);

/** Creates the error of a field with invalid input. The draft keeps the last valid value. */
export const unreadable = (message: string): DraftCheck => ({ severity: 'error', path: [], message });

const invalidIds = signal<readonly string[]>([]);

/** Returns the IDs of fields with invalid input, which is not in the draft. */
export const invalidFields = (): readonly string[] => invalidIds.value;

/** Adds a field to `invalidFields` while its input is invalid. */
export const useInvalid = (id: string, isInvalid: boolean) => {
  useLayoutEffect(() => {
    if (!isInvalid) return;
    invalidIds.value = [...invalidIds.peek(), id];
    return () => {
      invalidIds.value = invalidIds.peek().filter((each) => each !== id);
    };
  }, [id, isInvalid]);
};

/** Field with label, help text and checks. */
export const Field = ({ id, label, help, aside, checks = [], onLeave, children }: FieldProps) => (
  <div class="field" onFocusOut={onLeave}>
    <div class="row apart">
      <label for={id}>{label}</label>
      {aside}
    </div>
    {children}
    <div id={`${id}-problem`}>
      <IssueList checks={checks} />
    </div>
    {help && (
      <p class="field-help" id={`${id}-help`}>
        {help}
      </p>
    )}
  </div>
);

interface TextFieldProps {
  id: string;
  label: string;
  help?: ComponentChildren;
  checks?: readonly DraftCheck[];
  value: string;
  placeholder?: string;
  maxLength?: number;
  /** ID of the `<datalist>`. */
  list?: string;
  /** Text direction. `auto` for natural language, unset for identifiers. */
  dir?: 'auto';
  /** Called on each input event. */
  onType(value: string): void;
}

/** Single-line text input with label. */
export const TextField = ({ id, label, help, checks = [], onType, ...input }: TextFieldProps) => (
  <Field id={id} label={label} help={help} checks={checks}>
    <input
      {...input}
      type="text"
      id={id}
      autoComplete="off"
      aria-invalid={hasError(checks)}
      aria-describedby={describedBy(id)}
      onInput={(event) => onType(event.currentTarget.value)}
    />
  </Field>
);

/** Masked input for an operator key. */
export const KeyField = ({ id, label, help, value, onType }: TextFieldProps) => (
  <Field id={id} label={label} help={help}>
    <input
      type="password"
      id={id}
      autoComplete="off"
      value={value}
      aria-describedby={describedBy(id)}
      onInput={(event) => onType(event.currentTarget.value)}
    />
  </Field>
);

interface NumberFieldProps {
  id: string;
  label: string;
  help?: string;
  checks?: readonly DraftCheck[];
  value: number | null | undefined;
  min?: number;
  max?: number;
  /** Whether fractions are valid. */
  isFraction?: boolean;
  /** Whether an empty field is invalid. */
  isRequired?: boolean;
  /** Placeholder that describes the effect of an empty field. */
  placeholder?: string;
  /** Called with a valid number, or with `null` if the field is empty. The field shows the error of an invalid number. */
  onChange(value: number | null): void;
}

/** Input for an optional number. */
export const NumberField = (props: NumberFieldProps) => {
  const {
    id,
    label,
    help,
    checks = [],
    value,
    min = 0,
    max,
    isFraction = false,
    isRequired = false,
    placeholder,
    onChange,
  } = props;
  /** Invalid input; `null` if the input is valid. */
  const invalid = useSignal<string | null>(null);
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  const stays = value == null ? 'It stays empty.' : `${value} stays.`;
  const problem = invalid.value === null ? [] : [unreadable(`Enter a number ${bounds}. ${stays}`)];
  useInvalid(id, problem.length > 0);
  return (
    <Field id={id} label={label} help={help} checks={[...problem, ...checks]}>
      <input
        id={id}
        type="number"
        min={min}
        max={max}
        step={isFraction ? 'any' : 1}
        placeholder={placeholder}
        value={invalid.value ?? value ?? ''}
        aria-invalid={problem.length > 0 || hasError(checks)}
        aria-describedby={describedBy(id)}
        onInput={(event) => {
          const { value: typed, valueAsNumber, validity } = event.currentTarget;
          const number = isFraction ? valueAsNumber : Math.floor(valueAsNumber);
          const isEmpty = typed === '' && !validity.badInput && !isRequired;
          const isTaken = number >= min && number <= (max ?? Number.POSITIVE_INFINITY);
          invalid.value = isEmpty || isTaken ? null : typed;
          if (isEmpty) onChange(null);
          else if (isTaken) onChange(number);
        }}
      />
    </Field>
  );
};

interface ListFieldProps {
  id: string;
  label: string;
  help: string;
  checks?: readonly DraftCheck[];
  values: readonly string[];
  onChange(values: string[]): void;
}

/** Input for a comma-separated list. Values are committed on blur. */
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

interface MomentInputProps {
  id: string;
  /** ISO 8601 date-time with offset; `null` if not set. */
  value: string | null;
  isInvalid?: boolean;
  describedBy?: string;
  /** Called with a complete date with a plausible year, or with `null` if the field is cleared. */
  onChange(moment: string | null): void;
}

const describeUnfinished = (text: string, zone: string): string => {
  if (text === '') return 'Enter a complete date and time.';
  return /^2\d{3}-/.test(text)
    ? `This hour does not exist in ${zone} (clock change). Choose another.`
    : 'Enter a year from 2000 to 2999.';
};

/** Date and time input in the workspace's time zone. Incomplete input stays in the field. */
export const MomentInput = ({ id, value, isInvalid = false, describedBy, onChange }: MomentInputProps) => {
  const zone = signedIn().workspace.timeZone;
  /** Input text, valid until `value` changes from outside, for example by Undo. */
  const typed = useSignal<{ text: string; over: string | null; isPartial: boolean } | null>(null);
  const isLeft = useSignal(false);
  const stored = value === null ? '' : toZoned(value, zone);
  const current = typed.value?.over === value ? typed.value : { text: stored, isPartial: false };
  const { text, isPartial } = current;
  const isUnfinished = isPartial || (text !== '' && fromZoned(text, zone) === null);
  useInvalid(id, isUnfinished);
  const take = ({ value: next, validity: { badInput } }: HTMLInputElement) => {
    const moment = fromZoned(next, zone);
    // A partially filled field also has an empty value, but is not cleared.
    const isCleared = next === '' && !badInput;
    typed.value = isCleared ? null : { text: next, over: moment ?? value, isPartial: badInput };
    if (isCleared || moment !== null) onChange(moment);
  };
  return (
    <>
      <input
        id={id}
        type="datetime-local"
        max="2999-12-31T23:59"
        value={text}
        aria-invalid={isInvalid || (isUnfinished && isLeft.value)}
        aria-describedby={`${id}-unfinished${describedBy ? ` ${describedBy}` : ''}`}
        onFocus={() => {
          isLeft.value = false;
        }}
        onBlur={({ currentTarget }) => {
          isLeft.value = true;
          // Browsers fire no `input` event while the value stays empty.
          if (currentTarget.validity.badInput !== isPartial) take(currentTarget);
        }}
        onInput={(event) => take(event.currentTarget)}
      />
      <p class="field-problem" id={`${id}-unfinished`}>
        {isUnfinished &&
          isLeft.value &&
          `${describeUnfinished(text, zone)} ${value === null ? 'It stays empty.' : 'The last date stays.'}`}
      </p>
    </>
  );
};

interface MomentFieldProps extends Pick<MomentInputProps, 'id' | 'value' | 'onChange'> {
  label: string;
}

/** Date and time input with label. */
export const MomentField = ({ label, ...input }: MomentFieldProps) => (
  <Field id={input.id} label={label}>
    <MomentInput {...input} />
  </Field>
);

interface SelectFieldProps<Value extends string> {
  id: string;
  label: string;
  options: readonly Option<Value>[];
  value: Value;
  onChoose(value: Value): void;
}

/** Select with label. */
export const SelectField = <Value extends string>({ label, ...select }: SelectFieldProps<Value>) => (
  <Field id={select.id} label={label}>
    <Select {...select} />
  </Field>
);
