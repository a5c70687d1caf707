import { useLayoutEffect, useRef } from 'preact/hooks';
import { isolateMarkup, shownOffset, withoutIsolates } from '../../campaign/isolate-markup.ts';

interface WordsInputProps {
  id: string;
  value: string;
  rows: number;
  /** Enter makes no new line. */
  isLine?: boolean;
  isInvalid?: boolean;
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
