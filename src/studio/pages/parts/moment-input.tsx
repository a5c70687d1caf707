import { useSignal } from '@preact/signals';
import { fromZoned, toZoned } from '../../campaign/zoned-time.ts';
import { signedIn } from '../shell/session.ts';

interface MomentInputProps {
  id: string;
  /** A date with time and offset. `null`: none yet. */
  value: string | null;
  isInvalid?: boolean;
  describedBy?: string;
  /** Called with a complete date whose year is plausible, and with `null` where the field was emptied. */
  onChange(moment: string | null): void;
}

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
        {isUnfinished &&
          isLeft.value &&
          'This year is not meant: it goes from 2000 to 2999. The last date stays.'}
      </p>
    </>
  );
};
