import { useSignal } from '@preact/signals';
import type { PropertyText } from '../../campaign/campaign-text.ts';
import type { DraftCheck } from '../../server/draft-check.ts';
import { Field, hasError } from './field.tsx';

export type PropertyType = PropertyText['type'];

export const TYPE_NAMES: Record<PropertyType, string> = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  image: 'Image',
  jsonobject: 'JSON object',
  datetime: 'Date and time',
};

interface CustomFieldProps {
  name: string;
  property: PropertyText;
  checks: readonly DraftCheck[];
  onChange(name: string, property: PropertyText | null): void;
}

const shownOf = ({ value }: PropertyText) =>
  typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);

/** What was typed, as a value of the type; `undefined` where it is none. Liquid is text in any type. */
const readValue = (type: PropertyType, typed: string): unknown => {
  if (type === 'jsonobject') {
    try {
      const value: unknown = JSON.parse(typed);
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
    } catch {
      // Half-written JSON is the ordinary state of an editor.
      return undefined;
    }
  }
  if (typed.includes('{{') || typed.includes('{%')) return typed;
  if (type === 'boolean') return typed === 'true' ? true : typed === 'false' ? false : undefined;
  if (type !== 'number') return typed;
  return typed.trim() !== '' && Number.isFinite(Number(typed)) ? Number(typed) : undefined;
};

/** A property with what is typed for it: the last good value stays where that is none of its type. */
export const CustomField = ({ name, property, checks, onChange }: CustomFieldProps) => {
  const typed = useSignal<string | null>(null);
  const id = `property-${name}`;
  const unreadable: DraftCheck[] =
    typed.value === null
      ? []
      : [
          {
            severity: 'error',
            path: [],
            words: `Not ${TYPE_NAMES[property.type].toLowerCase()} yet. The last good value stays.`,
          },
        ];
  return (
    <div class="custom-property">
      <Field
        id={id}
        label={
          <>
            {name} <span class="tag">{TYPE_NAMES[property.type]}</span>
          </>
        }
        checks={[...unreadable, ...checks]}
      >
        <textarea
          id={id}
          class={property.type === 'jsonobject' ? 'code' : undefined}
          rows={property.type === 'jsonobject' ? 4 : 1}
          dir={property.type === 'string' ? 'auto' : 'ltr'}
          spellcheck={property.type === 'string'}
          value={typed.value ?? shownOf(property)}
          aria-invalid={typed.value !== null || hasError(checks)}
          aria-describedby={`${id}-problem`}
          onInput={(event) => {
            const value = readValue(property.type, event.currentTarget.value);
            typed.value = value === undefined ? event.currentTarget.value : null;
            if (value !== undefined) onChange(name, { type: property.type, value });
          }}
        />
      </Field>
      <button
        type="button"
        class="button quiet"
        aria-label={`Remove ${name}`}
        onClick={() => {
          onChange(name, null);
          document.getElementById('custom-name')?.focus();
        }}
      >
        Remove
      </button>
    </div>
  );
};
