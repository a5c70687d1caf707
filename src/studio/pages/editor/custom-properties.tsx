import { useSignal } from '@preact/signals';
import { TEMPLATE_PROPERTIES } from '../../../templates/index.ts';
import type { PropertyText } from '../../campaign/campaign-text.ts';
import type { DraftCheck } from '../../server/draft-check.ts';
import { CustomField, type PropertyType, TYPE_NAMES } from './custom-field.tsx';

interface CustomPropertiesProps {
  properties: Record<string, PropertyText>;
  checks: readonly DraftCheck[];
  onChange(name: string, property: PropertyText | null): void;
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

/** Properties that a page's own hook reads. */
export const CustomProperties = ({ properties, checks, onChange }: CustomPropertiesProps) => {
  const name = useSignal('');
  const type = useSignal<PropertyType>('string');
  const custom = Object.entries(properties).filter(([each]) => !isOfTemplates(each));
  const wanted = name.value.trim();
  const isTaken = Object.hasOwn(properties, wanted) || isOfTemplates(wanted);
  const add = () => {
    onChange(wanted, { type: type.value, value: structuredClone(EMPTY[type.value]) });
    name.value = '';
    setTimeout(() => document.getElementById(`property-${wanted}`)?.focus());
  };
  return (
    <section class="custom" aria-label="Properties of your own">
      {custom.map(([each, property]) => (
        <CustomField
          key={each}
          name={each}
          property={property}
          checks={checks.filter(({ path }) => path[3] === each)}
          onChange={onChange}
        />
      ))}
      <div class="custom-add">
        <div class="field">
          <label for="custom-name">Another property</label>
          <input
            id="custom-name"
            value={name.value}
            placeholder="its_name"
            onInput={(event) => {
              name.value = event.currentTarget.value;
            }}
          />
        </div>
        <div class="field">
          <label for="custom-type">Type</label>
          <select
            id="custom-type"
            value={type.value}
            onChange={(event) => {
              type.value = event.currentTarget.value as PropertyType;
            }}
          >
            {Object.entries(TYPE_NAMES).map(([each, words]) => (
              <option key={each} value={each}>
                {words}
              </option>
            ))}
          </select>
        </div>
        <button type="button" class="button" disabled={wanted === '' || isTaken} onClick={add}>
          Add
        </button>
      </div>
    </section>
  );
};
