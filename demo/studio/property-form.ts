import { TEMPLATE_PROPERTIES } from '../../src/templates/index.ts';
import { node } from '../ui/node.ts';
import type { PropertyText } from './campaign-text.ts';
import type { Draft } from './draft.ts';
import { propertyField } from './property-field.ts';

const EMPTY: Readonly<Record<string, PropertyText>> = {
  string: { type: 'string', value: '' },
  boolean: { type: 'boolean', value: true },
  image: { type: 'image', value: '/images/hero-shelf.svg' },
};

const ORDER = TEMPLATE_PROPERTIES.map(({ name }) => name as string);
const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

interface FormOptions {
  draft: Draft;
  variantId: string;
  images: readonly string[];
  /** After each change of a value. */
  onChange(): void;
  /** After a property came or went: the form has to be drawn again. */
  onShape(focus: string | null): void;
}

/** The properties of one variant, those the templates read first, and a way to add what is missing. */
export const propertyForm = ({ draft, variantId, images, onChange, onShape }: FormOptions): HTMLElement => {
  const properties = Object.entries(draft.properties(variantId)).sort(([a], [b]) => rank(a) - rank(b));
  const fields = properties.map(([name, property]) =>
    propertyField({
      name,
      property,
      images,
      onChange(changed) {
        draft.set(variantId, name, changed);
        onChange();
      },
      onRemove() {
        draft.remove(variantId, name);
        onShape(null);
      },
    }),
  );
  const missing = TEMPLATE_PROPERTIES.filter(({ name }) => !properties.some(([there]) => there === name));
  const add = node(
    'select',
    { id: 'add-property', 'aria-label': 'Add a property' },
    [
      node('option', { value: '' }, ['Add a property …']),
      ...missing.map(({ name, label }) => node('option', { value: name }, [label])),
    ],
    {
      change: () => {
        const chosen = missing.find(({ name }) => name === add.value);
        if (!chosen) return;
        const value =
          chosen.name === 'theme' ? { type: 'string' as const, value: 'auto' } : EMPTY[chosen.type];
        draft.set(variantId, chosen.name, { ...value! });
        onShape(chosen.name);
      },
    },
  );
  return node('div', { class: 'fields' }, [...fields, missing.length > 0 && add]);
};
