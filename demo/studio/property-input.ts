import { TEMPLATE_PROPERTIES, type TemplateProperty } from '../../src/templates/index.ts';
import { node } from '../ui/node.ts';
import type { PropertyText } from './campaign-text.ts';

interface FieldOptions {
  name: string;
  property: PropertyText;
  images: readonly string[];
  onChange(property: PropertyText): void;
  onRemove(): void;
}

type Input = { element: HTMLElement; id: string };

const known = (name: string): TemplateProperty | undefined =>
  TEMPLATE_PROPERTIES.find((property) => property.name === name);

/** A value that is worked out for each visitor cannot be a number or a switch here; it is edited as text. */
const isLiquid = (value: unknown): value is string => typeof value === 'string' && /\{\{|\{%/.test(value);

const address = ({ property, onChange }: FieldOptions, id: string): Input => {
  const input = node('input', { id, type: 'text', inputmode: 'url', value: String(property.value) }, [], {
    input: () => onChange({ ...property, value: input.value }),
  });
  return { element: input, id };
};

/** Words, in the direction of their own language. */
const text = ({ property, onChange }: FieldOptions, id: string, rows = 3): Input => {
  const area = node('textarea', { id, rows, dir: 'auto' }, [String(property.value)], {
    input: () => onChange({ ...property, value: area.value }),
  });
  return { element: area, id };
};

/** One line of words that may fill several of the field's: a template in it would not be seen whole in an input. */
const line = (options: FieldOptions, id: string): Input => {
  const onChange = ({ value, ...property }: PropertyText) =>
    options.onChange({ ...property, value: String(value).replaceAll('\n', ' ') });
  const { element } = text({ ...options, onChange }, id, 1);
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing) event.preventDefault();
  });
  return { element, id };
};

const choice = ({ property, onChange }: FieldOptions, id: string, choices: readonly string[]): Input => {
  const options = choices.includes(String(property.value)) ? choices : [String(property.value), ...choices];
  const select = node(
    'select',
    { id },
    options.map((each) => node('option', { value: each, selected: each === property.value }, [each])),
    { change: () => onChange({ ...property, value: select.value }) },
  );
  return { element: select, id };
};

const toggle = ({ property, onChange }: FieldOptions, id: string): Input => {
  const input = node('input', { id, type: 'checkbox', checked: property.value === true }, [], {
    change: () => onChange({ ...property, value: input.checked }),
  });
  return { element: input, id };
};

const number = ({ property, onChange }: FieldOptions, id: string): Input => {
  const input = node('input', { id, type: 'number', step: 'any', value: String(property.value) }, [], {
    input: () => {
      if (input.value !== '' && Number.isFinite(input.valueAsNumber)) {
        onChange({ ...property, value: input.valueAsNumber });
      }
    },
  });
  return { element: input, id };
};

/** `datetime-local` speaks the time of this computer, without its offset. */
const localText = (value: unknown): string => {
  const date = new Date(typeof value === 'number' ? value : String(value));
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

const datetime = ({ property, onChange }: FieldOptions, id: string): Input => {
  const input = node('input', { id, type: 'datetime-local', value: localText(property.value) }, [], {
    input: () => {
      const date = new Date(input.value);
      if (!Number.isNaN(date.getTime())) onChange({ ...property, value: date.toISOString() });
    },
  });
  return { element: input, id };
};

const json = ({ property, onChange }: FieldOptions, id: string): Input => {
  const problem = node('p', { class: 'field-problem', id: `${id}-problem`, role: 'alert' });
  const written = JSON.stringify(property.value, null, 2);
  const attributes = { id, rows: 4, spellcheck: 'false', class: 'code', 'aria-describedby': `${id}-problem` };
  const area = node('textarea', attributes, [written], {
    input: () => {
      let value: unknown;
      try {
        value = JSON.parse(area.value);
      } catch {
        // Half-written JSON is the ordinary state of an editor: say so and keep the last good value.
        value = undefined;
      }
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      problem.textContent = isObject ? '' : 'Not an object in JSON yet. The last good one stays.';
      area.setAttribute('aria-invalid', String(!isObject));
      if (isObject) onChange({ ...property, value });
    },
  });
  return { element: node('div', {}, [area, problem]), id };
};

const image = (options: FieldOptions, id: string): Input => {
  const input = address(options, id);
  const pick = (path: string) => {
    (input.element as HTMLInputElement).value = path;
    options.onChange({ ...options.property, value: path });
  };
  const choices = options.images.map((path) =>
    node(
      'button',
      { type: 'button', class: 'thumb', 'aria-label': `Use ${path.split('/').pop()}` },
      [node('img', { src: `.${path}`, alt: '', width: 48, height: 32 })],
      { click: () => pick(path) },
    ),
  );
  return {
    element: node('div', { class: 'image-field' }, [
      input.element,
      node('div', { class: 'thumbs' }, choices),
    ]),
    id,
  };
};

const inputFor = (options: FieldOptions, id: string): Input => {
  const { name, property } = options;
  const template = known(name);
  if (property.type === 'boolean' && !isLiquid(property.value)) return toggle(options, id);
  if (property.type === 'number' && !isLiquid(property.value)) return number(options, id);
  if (property.type === 'datetime' && !isLiquid(property.value)) return datetime(options, id);
  if (property.type === 'jsonobject') return json(options, id);
  if (property.type === 'image') return image(options, id);
  if (template?.choices) return choice(options, id, template.choices);
  if (template?.input === 'text') return text(options, id);
  return template?.input === 'link' ? address(options, id) : line(options, id);
};

/** One property with the input that fits its type. */
export const propertyField = (options: FieldOptions): HTMLElement => {
  const { name, property, onRemove } = options;
  const template = known(name);
  const label = template?.label ?? name;
  const { element, id } = inputFor(options, `property-${name}`);
  const help = template?.help ?? 'Not read by the ready-made templates; your own hook gets it.';
  return node('div', { class: `field field-${property.type}` }, [
    node('label', { for: id }, [label, template ? null : node('span', { class: 'tag' }, [property.type])]),
    element,
    node('p', { class: 'field-help' }, [help]),
    node('button', { type: 'button', class: 'remove', 'aria-label': `Remove ${label}` }, ['Remove'], {
      click: onRemove,
    }),
  ]);
};
