// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's

import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { isolateMarkup, shownOffset, withoutIsolates } from '../../campaign/isolate-markup.ts';
import { Button, into } from '../components/controls.tsx';
import { SelectField, TextField } from '../components/fields.tsx';

interface WordsInputProps {
  id: string;
  value: string;
  rows: number;
  /** Whether the text is a single line. Enter then inserts no line break. */
  isLine?: boolean;
  isInvalid?: boolean;
  /** Language of the text, for spell check and screen readers. */
  language?: string;
  placeholder?: string;
  describedBy?: string;
  onChange(value: string): void;
}

/** Text input in the direction of its language. Isolates Liquid, so that its braces keep their position. */
export const WordsInput = ({
  id,
  value,
  rows,
  isLine = false,
  isInvalid = false,
  language,
  placeholder,
  describedBy,
  onChange,
}: WordsInputProps) => {
  const area = useRef<HTMLTextAreaElement>(null);
  const caret = useRef<number | null>(null);
  const shown = isolateMarkup(value);
  useLayoutEffect(() => {
    const element = area.current;
    if (!element || caret.current === null) return;
    const at = shownOffset(shown, caret.current);
    caret.current = null;
    if (element.selectionStart !== at) element.setSelectionRange(at, at);
  });
  return (
    <textarea
      ref={area}
      id={id}
      rows={rows}
      dir="auto"
      lang={language}
      placeholder={placeholder}
      value={shown}
      aria-invalid={isInvalid}
      aria-describedby={describedBy}
      onKeyDown={(event) => {
        if (isLine && event.key === 'Enter' && !event.isComposing) event.preventDefault();
      }}
      onInput={(event) => {
        const { value: typed, selectionStart } = event.currentTarget;
        // Keeps the caret unset during IME composition, because the input method controls the text.
        if (!event.isComposing) caret.current = withoutIsolates(typed.slice(0, selectionStart)).length;
        const text = withoutIsolates(typed);
        onChange(isLine ? text.replaceAll('\n', ' ') : text);
      }}
    />
  );
};

interface PersonaliseProps {
  /** ID of the text field to insert into. */
  field: string;
  label: string;
  value: string;
  onChange(value: string): void;
}

const OWN = 'own';
const KNOWN = [
  { name: 'First name', value: '${first_name}' },
  { name: 'Last name', value: '${last_name}' },
  { name: 'City', value: '${city}' },
  { name: 'Country', value: '${country}' },
  { name: 'Language', value: '${language}' },
  { name: 'Custom attribute', value: OWN },
];

/** Inserts a Liquid variable with a default value. */
export const Personalise = ({ field, label, value, onChange }: PersonaliseProps) => {
  const isOpen = useSignal(false);
  const chosen = useSignal(KNOWN[0]!.value);
  const own = useSignal('');
  const otherwise = useSignal('');
  const id = useId();
  // Moves the focus, because the button that opened the form is gone.
  useLayoutEffect(() => {
    if (isOpen.value) document.getElementById(`${id}-what`)?.focus();
  }, [isOpen.value, id]);

  const insert = () => {
    const name = own.value.trim().replaceAll(/[{}$]/g, '');
    const reading = chosen.value === OWN ? `custom_attribute.\${${name}}` : chosen.value;
    const fallback = otherwise.value.replaceAll("'", '’');
    const liquid = fallback === '' ? `{{${reading}}}` : `{{${reading} | default: '${fallback}'}}`;
    const area = document.getElementById(field);
    if (!(area instanceof HTMLTextAreaElement)) return;
    const at = withoutIsolates(isolateMarkup(value).slice(0, area.selectionStart)).length;
    onChange(value.slice(0, at) + liquid + value.slice(at));
    isOpen.value = false;
    area.focus();
  };
  if (!isOpen.value) {
    return (
      <Button
        look="link"
        aria-label={`Insert from the profile into ${label}`}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        Insert from the profile…
      </Button>
    );
  }
  return (
    <div class="row low sunk personalise">
      <SelectField
        id={`${id}-what`}
        label="Insert"
        value={chosen.value}
        options={KNOWN}
        onChoose={into(chosen)}
      />
      {chosen.value === OWN && (
        <TextField id={`${id}-own`} label="Name" value={own.value} onType={into(own)} />
      )}
      <TextField
        id={`${id}-else`}
        label="If unknown"
        dir="auto"
        placeholder="nothing"
        value={otherwise.value}
        onType={into(otherwise)}
      />
      <div class="row">
        <Button disabled={chosen.value === OWN && own.value.trim() === ''} onClick={insert}>
          Insert
        </Button>
        <Button
          look="quiet"
          onClick={() => {
            isOpen.value = false;
            document.getElementById(field)?.focus();
          }}
        >
          Cancel
        </Button>
      </div>
    </div>
  );
};
