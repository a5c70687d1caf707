import { useSignal } from '@preact/signals';
import { getKeys } from '../../../protocol/index.ts';
import { TEMPLATE_PROPERTIES } from '../../../templates/index.ts';
import type { PropertyJson } from '../../campaign/campaign-json.ts';
import { parseObject } from '../../campaign/parse-object.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import { Button, focusOnceRendered, into } from '../components/controls.tsx';
import { Field, hasError, SelectField, TextField, unreadable } from '../components/fields.tsx';
import { ImageButton } from './images.tsx';

export type PropertyType = PropertyJson['type'];

const TYPE_NAMES: Record<PropertyType, string> = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  image: 'Image',
  jsonobject: 'JSON object',
  datetime: 'Date and time',
};

const TYPES = getKeys(TYPE_NAMES).map((value) => ({ value, name: TYPE_NAMES[value] }));

interface CustomFieldProps {
  name: string;
  property: PropertyJson;
  checks: readonly DraftCheck[];
  onChange(name: string, property: PropertyJson | null): void;
}

const formatProperty = ({ value }: PropertyJson) =>
  typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);

/** Parses input as a value of the type. Returns Liquid as a string for any type, `undefined` if the input is invalid. */
const readValue = (type: PropertyType, typed: string): unknown => {
  if (type === 'jsonobject') return parseObject(typed);
  if (typed.includes('{{') || typed.includes('{%')) return typed;
  if (type === 'boolean') return typed === 'true' ? true : typed === 'false' ? false : undefined;
  if (type !== 'number') return typed;
  return typed.trim() !== '' && Number.isFinite(Number(typed)) ? Number(typed) : undefined;
};

/** Input for a property. Keeps the last valid value while the input is invalid for its type. */
const CustomField = ({ name, property, checks, onChange }: CustomFieldProps) => {
  const typed = useSignal<string | null>(null);
  const id = `property-${name}`;
  const message = `Invalid ${TYPE_NAMES[property.type].toLowerCase()}. The last valid value is used.`;
  const own = typed.value === null ? [] : [unreadable(message)];
  return (
    <div class="row low">
      <Field
        id={id}
        label={
          <>
            {name} <span class="tag">{TYPE_NAMES[property.type]}</span>
          </>
        }
        checks={[...own, ...checks]}
        aside={
          property.type === 'image' && (
            <ImageButton label={name} onChoose={(value) => onChange(name, { type: 'image', value })} />
          )
        }
      >
        <textarea
          id={id}
          class={property.type === 'jsonobject' ? 'code' : undefined}
          rows={property.type === 'jsonobject' ? 4 : 1}
          dir={property.type === 'string' ? 'auto' : 'ltr'}
          spellcheck={property.type === 'string'}
          value={typed.value ?? formatProperty(property)}
          aria-invalid={typed.value !== null || hasError(checks)}
          aria-describedby={`${id}-problem`}
          onInput={(event) => {
            const value = readValue(property.type, event.currentTarget.value);
            typed.value = value === undefined ? event.currentTarget.value : null;
            if (value !== undefined) onChange(name, { type: property.type, value });
          }}
        />
      </Field>
      <Button
        look="quiet"
        aria-label={`Remove ${name}`}
        onClick={() => {
          onChange(name, null);
          document.getElementById('custom-name')?.focus();
        }}
      >
        Remove
      </Button>
    </div>
  );
};

interface CustomPropertiesProps {
  properties: Record<string, PropertyJson>;
  checks: readonly DraftCheck[];
  onChange(name: string, property: PropertyJson | null): void;
}

const EMPTY: Record<PropertyType, unknown> = {
  string: '',
  number: 0,
  boolean: true,
  image: '',
  jsonobject: {},
  datetime: '2026-01-01T00:00:00Z',
};

const isOfTemplates = (name: string) => TEMPLATE_PROPERTIES.some((each) => each.name === name);

/** Properties for custom placement hooks. */
export const CustomProperties = ({ properties, checks, onChange }: CustomPropertiesProps) => {
  const name = useSignal('');
  const type = useSignal<PropertyType>('string');
  const custom = Object.entries(properties).filter(([each]) => !isOfTemplates(each));
  const wanted = name.value.trim();
  const isTaken = Object.hasOwn(properties, wanted) || isOfTemplates(wanted);
  const add = () => {
    onChange(wanted, { type: type.value, value: structuredClone(EMPTY[type.value]) });
    name.value = '';
    focusOnceRendered(`property-${wanted}`);
  };
  return (
    <section class="stack" aria-label="Other properties">
      {custom.map(([each, property]) => (
        <CustomField
          key={each}
          name={each}
          property={property}
          checks={checks.filter(({ path }) => path[3] === each)}
          onChange={onChange}
        />
      ))}
      <div class="row low">
        <TextField
          id="custom-name"
          label="Another property"
          value={name.value}
          placeholder="its_name"
          onType={into(name)}
        />
        <SelectField id="custom-type" label="Type" value={type.value} options={TYPES} onChoose={into(type)} />
        <Button disabled={wanted === '' || isTaken} onClick={add}>
          Add
        </Button>
      </div>
    </section>
  );
};
