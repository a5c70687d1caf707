import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fromZoned, toZoned } from '../../campaign/zoned-time.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import { signedIn } from '../shell/session.ts';

interface FieldProps {
  id: string;
  label: ComponentChildren;
  help?: ComponentChildren;
  /** Beside the label, such as a button that fills the field in. */
  aside?: ComponentChildren;
  checks?: readonly DraftCheck[];
  /** Called when the focus goes elsewhere. */
  onLeave?: () => void;
  children: ComponentChildren;
}

/** IDs of what describes a field, for its `aria-describedby`. */
export const describedBy = (id: string): string => `${id}-problem ${id}-help`;

/** The checks that are about one member of the campaign. */
export const checksAt = (checks: readonly DraftCheck[], ...path: (string | number)[]): DraftCheck[] =>
  checks.filter((check) => path.every((step, index) => check.path[index] === step));

export const hasError = (checks: readonly DraftCheck[]): boolean =>
  checks.some(({ severity }) => severity === 'error');

/** What there is to say of something: what is wrong with it, then what should be looked at. */
export const IssueList = ({ checks }: { checks: readonly DraftCheck[] }) => (
  <>
    {checks.map(({ severity, words }) => (
      <p key={words} class={severity === 'error' ? 'field-problem' : 'field-warning'}>
        {words}
      </p>
    ))}
  </>
);

/** A problem of the field itself: what stands in it is none of its values, so that the last good one stays. */
export const unreadable = (words: string): DraftCheck => ({ severity: 'error', path: [], words });

/** A label, what it is for, and what there is to say of what is in it. */
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
  /** ID of the list to choose from. */
  list?: string;
  /** `auto`: words of people, and not a name that programs read. */
  dir?: 'auto';
  /** Called with what is typed, letter by letter. */
  onType(value: string): void;
}

/** A short text with its label. */
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
  /** What an empty field means, shown in it. */
  placeholder?: string;
  /** `null` of an empty field. A number that is out of bounds is not told: the field says so. */
  onChange(value: number | null): void;
}

/** A number that may be left out. */
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
    placeholder,
    onChange,
  } = props;
  /** What stands in the field and is no number that it takes. */
  const refused = useSignal<string | null>(null);
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  const stays = value == null ? 'It stays empty.' : `${value} stays.`;
  const problem = refused.value === null ? [] : [unreadable(`Write a number ${bounds}. ${stays}`)];
  return (
    <Field id={id} label={label} help={help} checks={[...problem, ...checks]}>
      <input
        id={id}
        type="number"
        min={min}
        max={max}
        step={isFraction ? 'any' : 1}
        placeholder={placeholder}
        value={refused.value ?? value ?? ''}
        aria-invalid={problem.length > 0 || hasError(checks)}
        data-unread={problem.length > 0}
        aria-describedby={describedBy(id)}
        onInput={(event) => {
          const { value: typed, valueAsNumber, validity } = event.currentTarget;
          const number = isFraction ? valueAsNumber : Math.floor(valueAsNumber);
          const isEmpty = typed === '' && !validity.badInput;
          const isTaken = number >= min && number <= (max ?? Number.POSITIVE_INFINITY);
          refused.value = isEmpty || isTaken ? null : typed;
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

interface MomentInputProps {
  id: string;
  /** A date with time and offset. `null`: none yet. */
  value: string | null;
  isInvalid?: boolean;
  describedBy?: string;
  /** Called with a complete date whose year is plausible, and with `null` where the field was emptied. */
  onChange(moment: string | null): void;
}

const describeUnfinished = (text: string, zone: string): string =>
  /^2\d{3}-/.test(text)
    ? `The clocks of ${zone} skip this hour: choose one before or after it.`
    : 'This year is not meant: it goes from 2000 to 2999.';

/** A date and a time in the workspace's time zone. What is half typed stays in the field and reaches nobody. */
export const MomentInput = ({ id, value, isInvalid = false, describedBy, onChange }: MomentInputProps) => {
  const zone = signedIn().workspace.timeZone;
  /** What stands in the field, until `value` is changed from elsewhere, as by Undo. */
  const typed = useSignal<{ text: string; over: string | null } | null>(null);
  const isLeft = useSignal(false);
  const stored = value === null ? '' : toZoned(value, zone);
  const text = typed.value?.over === value ? typed.value.text : stored;
  const isUnfinished = text !== '' && fromZoned(text, zone) === null;
  return (
    <>
      <input
        id={id}
        type="datetime-local"
        max="2999-12-31T23:59"
        value={text}
        aria-invalid={isInvalid || (isUnfinished && isLeft.value)}
        data-unread={isUnfinished}
        aria-describedby={`${id}-unfinished${describedBy ? ` ${describedBy}` : ''}`}
        onFocus={() => {
          isLeft.value = false;
        }}
        onBlur={() => {
          isLeft.value = true;
        }}
        onInput={(event) => {
          const { value: next, validity } = event.currentTarget;
          const moment = fromZoned(next, zone);
          typed.value = { text: next, over: moment ?? value };
          // A field with some of its parts filled in has no value either, and is not empty.
          if (next === '' && !validity.badInput) {
            typed.value = null;
            onChange(null);
          } else if (moment !== null) onChange(moment);
        }}
      />
      <p class="field-problem" id={`${id}-unfinished`}>
        {isUnfinished && isLeft.value && `${describeUnfinished(text, zone)} The last date stays.`}
      </p>
    </>
  );
};
