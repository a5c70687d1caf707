import { useSignal } from '@preact/signals';
import type { Filter } from '../../campaign/campaign-text.ts';
import type { DraftCheck } from '../../server/draft-check.ts';
import { Field } from './field.tsx';

interface AudienceJsonProps {
  audience: Filter | null;
  checks: readonly DraftCheck[];
  onChange(audience: Filter | null): void;
}

const parse = (typed: string): Filter | null | undefined => {
  if (typed.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(typed);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Filter)
      : undefined;
  } catch {
    // Half-written JSON is the ordinary state of an editor.
    return undefined;
  }
};

/** The filter itself, for what the builder has no lines for. */
export const AudienceJson = ({ audience, checks, onChange }: AudienceJsonProps) => {
  const typed = useSignal<string | null>(null);
  const unread: DraftCheck[] =
    typed.value !== null && parse(typed.value) === undefined
      ? [{ severity: 'error', path: [], words: 'Not an object in JSON yet. The last good audience stays.' }]
      : [];
  const shown = typed.value ?? (audience ? JSON.stringify(audience, null, 2) : '');
  return (
    <Field
      id="audience-json"
      label="Audience as JSON"
      help="A filter in MongoDB's query form. Empty is everyone."
      checks={[...unread, ...checks]}
    >
      <textarea
        id="audience-json"
        class="code"
        rows={8}
        dir="ltr"
        spellcheck={false}
        value={shown}
        aria-invalid={unread.length > 0}
        aria-describedby="audience-json-problem audience-json-help"
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          const filter = parse(typed.value);
          if (filter !== undefined) onChange(filter);
        }}
      />
    </Field>
  );
};
