// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { isolateMarkup, shownOffset, withoutIsolates } from '../../campaign/isolate-markup.ts';

interface WordsInputProps {
  id: string;
  value: string;
  rows: number;
  /** Enter makes no new line. */
  isLine?: boolean;
  isInvalid?: boolean;
  /** Of the words, for spelling and for voices. */
  language?: string;
  placeholder?: string;
  describedBy?: string;
  onChange(value: string): void;
}

/** Words in the direction of their own language; what they print of a user stays readable in between. */
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
        // While a letter is composed its text belongs to the keyboard.
        if (!event.isComposing) caret.current = withoutIsolates(typed.slice(0, selectionStart)).length;
        const words = withoutIsolates(typed);
        onChange(isLine ? words.replaceAll('\n', ' ') : words);
      }}
    />
  );
};

interface PersonaliseProps {
  /** ID of the text field it writes into. */
  field: string;
  label: string;
  value: string;
  onChange(value: string): void;
}

const KNOWN = [
  { name: 'First name', liquid: '${first_name}' },
  { name: 'Last name', liquid: '${last_name}' },
  { name: 'City', liquid: '${city}' },
  { name: 'Country', liquid: '${country}' },
  { name: 'Language', liquid: '${language}' },
];
const OWN = 'own';

/** The button that opened it is gone, and the focus would go with it. */
const focusOnOpening = (select: HTMLSelectElement | null): void => select?.focus();

/** Puts something of the reader into a text, with what stands there where it is not known. */
export const Personalise = ({ field, label, value, onChange }: PersonaliseProps) => {
  const isOpen = useSignal(false);
  const chosen = useSignal(KNOWN[0]!.liquid);
  const own = useSignal('');
  const otherwise = useSignal('');
  const id = useId();

  const insert = () => {
    const name = own.value.trim().replaceAll(/[{}$]/g, '');
    const reading = chosen.value === OWN ? `custom_attribute.\${${name}}` : chosen.value;
    const fallback = otherwise.value.replaceAll("'", '’');
    const liquid = fallback === '' ? `{{${reading}}}` : `{{${reading} | default: '${fallback}'}}`;
    const area = document.getElementById(field) as HTMLTextAreaElement;
    const at = withoutIsolates(isolateMarkup(value).slice(0, area.selectionStart)).length;
    onChange(value.slice(0, at) + liquid + value.slice(at));
    isOpen.value = false;
    area.focus();
  };
  if (!isOpen.value) {
    return (
      <button
        type="button"
        class="link personalise-open"
        aria-label={`Insert something of the reader into ${label}`}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        Insert from the profile …
      </button>
    );
  }
  return (
    <div class="personalise">
      <div class="field">
        <label for={`${id}-what`}>Insert</label>
        <select
          ref={focusOnOpening}
          id={`${id}-what`}
          value={chosen.value}
          onChange={(event) => {
            chosen.value = event.currentTarget.value;
          }}
        >
          {KNOWN.map(({ name, liquid }) => (
            <option key={liquid} value={liquid}>
              {name}
            </option>
          ))}
          <option value={OWN}>An attribute of your own</option>
        </select>
      </div>
      {chosen.value === OWN && (
        <div class="field">
          <label for={`${id}-own`}>Its name</label>
          <input
            id={`${id}-own`}
            value={own.value}
            onInput={(event) => {
              own.value = event.currentTarget.value;
            }}
          />
        </div>
      )}
      <div class="field">
        <label for={`${id}-else`}>Where it is not known</label>
        <input
          id={`${id}-else`}
          dir="auto"
          placeholder="nothing"
          value={otherwise.value}
          onInput={(event) => {
            otherwise.value = event.currentTarget.value;
          }}
        />
      </div>
      <div class="personalise-buttons">
        <button
          type="button"
          class="button"
          disabled={chosen.value === OWN && own.value.trim() === ''}
          onClick={insert}
        >
          Insert
        </button>
        <button
          type="button"
          class="button quiet"
          onClick={() => {
            isOpen.value = false;
            document.getElementById(field)?.focus();
          }}
        >
          Cancel
        </button>
      </div>
    </div>
  );
};
