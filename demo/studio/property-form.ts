import type { Banner } from '../../src/client/index.ts';
import { TEMPLATE_PROPERTIES } from '../../src/templates/index.ts';
import { node } from '../ui/node.ts';
import type { PropertyText } from './campaign-text.ts';
import type { Draft } from './draft.ts';
import type { DraftProblem } from './draft-problem.ts';
import { propertyField } from './property-field.ts';
import { propertyHint } from './property-hint.ts';

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
  /** Known names of custom attributes. */
  own: readonly string[];
  /** After each change of a value. */
  onChange(): void;
  /** After a property came or went: the form has to be drawn again. */
  onShape(focus: string | null): void;
}

/** The properties of one variant, those the templates read first, and a way to add what is missing. */
export const propertyForm = ({ draft, variantId, images, own, onChange, onShape }: FormOptions) => {
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
  return {
    element: node('div', { class: 'fields' }, [
      ...fields.map(({ element }) => element),
      missing.length > 0 && add,
    ]),
    /** Says beside each field what is wrong with it, and what catches the eye; `banner` is what the visitor reads. */
    tell(problems: readonly DraftProblem[], banner: Banner | null) {
      for (const { name, tell } of fields) {
        const property = draft.properties(variantId)[name];
        const words = problems.flatMap((problem) => (problem.property === name ? [problem.words] : []));
        const rendered = banner?.properties[name]?.value;
        tell({
          problem: words.length > 0 ? words.join('\n') : null,
          hint: property ? propertyHint(name, property, { rendered, own }) : null,
        });
      }
    },
  };
};
