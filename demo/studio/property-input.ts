import { TEMPLATE_PROPERTIES, type TemplateProperty } from '../../src/templates/index.ts';
import { node } from '../ui/node.ts';
import type { PropertyText } from './campaign-text.ts';

export interface InputOptions {
  name: string;
  property: PropertyText;
  images: readonly string[];
  onChange(property: PropertyText): void;
  /** After each change, where what is typed may be no value at all: the words for it, or `null`. */
  onUnreadable(words: string | null): void;
}

/** What is put into the form, and the control in it that has the label and the focus. */
interface Input {
  element: HTMLElement;
  control: HTMLElement;
}

/** A value that is worked out for each visitor cannot be a number or a switch here; it is edited as text. */
const isLiquid = (value: unknown): value is string => typeof value === 'string' && /\{\{|\{%/.test(value);

const address = ({ property, onChange }: InputOptions, id: string): Input => {
  const input = node('input', { id, type: 'text', inputmode: 'url', value: String(property.value) }, [], {
    input: () => onChange({ ...property, value: input.value }),
  });
  return { element: input, control: input };
};

/** Words, in the direction of their own language. */
const text = ({ property, onChange }: InputOptions, id: string, rows = 3): Input => {
  const area = node('textarea', { id, rows, dir: 'auto' }, [String(property.value)], {
    input: () => onChange({ ...property, value: area.value }),
  });
  return { element: area, control: area };
};

/** One line of words that may fill several of the field's: a template in it would not be seen whole in an input. */
const line = (options: InputOptions, id: string): Input => {
  const onChange = ({ value, ...property }: PropertyText) =>
    options.onChange({ ...property, value: String(value).replaceAll('\n', ' ') });
  const input = text({ ...options, onChange }, id, 1);
  input.control.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing) event.preventDefault();
  });
  return input;
};

const choice = ({ property, onChange }: InputOptions, id: string, choices: readonly string[]): Input => {
  const options = choices.includes(String(property.value)) ? choices : [String(property.value), ...choices];
  const select = node(
    'select',
    { id },
    options.map((each) => node('option', { value: each, selected: each === property.value }, [each])),
    { change: () => onChange({ ...property, value: select.value }) },
  );
  return { element: select, control: select };
};

const toggle = ({ property, onChange }: InputOptions, id: string): Input => {
  const input = node('input', { id, type: 'checkbox', checked: property.value === true }, [], {
    change: () => onChange({ ...property, value: input.checked }),
  });
  return { element: input, control: input };
};

const number = ({ property, onChange }: InputOptions, id: string): Input => {
  const input = node('input', { id, type: 'number', step: 'any', value: String(property.value) }, [], {
    input: () => {
      if (input.value !== '' && Number.isFinite(input.valueAsNumber)) {
        onChange({ ...property, value: input.valueAsNumber });
      }
    },
  });
  return { element: input, control: input };
};

/** `datetime-local` speaks the time of this computer, without its offset. */
const localText = (value: unknown): string => {
  const date = new Date(typeof value === 'number' ? value : String(value));
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

const datetime = ({ property, onChange }: InputOptions, id: string): Input => {
  const input = node('input', { id, type: 'datetime-local', value: localText(property.value) }, [], {
    input: () => {
      const date = new Date(input.value);
      if (!Number.isNaN(date.getTime())) onChange({ ...property, value: date.toISOString() });
    },
  });
  return { element: input, control: input };
};

const json = ({ property, onChange, onUnreadable }: InputOptions, id: string): Input => {
  const written = JSON.stringify(property.value, null, 2);
  const area = node('textarea', { id, rows: 4, spellcheck: 'false', class: 'code' }, [written], {
    input: () => {
      let value: unknown;
      try {
        value = JSON.parse(area.value);
      } catch {
        // Half-written JSON is the ordinary state of an editor: say so and keep the last good value.
        value = undefined;
      }
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      onUnreadable(isObject ? null : 'Not an object in JSON yet. The last good one stays.');
      if (isObject) onChange({ ...property, value });
    },
  });
  return { element: area, control: area };
};

const image = (options: InputOptions, id: string): Input => {
  const input = address(options, id);
  const pick = (path: string) => {
    (input.control as HTMLInputElement).value = path;
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
    control: input.control,
  };
};

/** The input that fits a property's type. */
export const propertyInput = (options: InputOptions, id: string): Input => {
  const { name, property } = options;
  const template: TemplateProperty | undefined = TEMPLATE_PROPERTIES.find((each) => each.name === name);
  if (property.type === 'boolean' && !isLiquid(property.value)) return toggle(options, id);
  if (property.type === 'number' && !isLiquid(property.value)) return number(options, id);
  if (property.type === 'datetime' && !isLiquid(property.value)) return datetime(options, id);
  if (property.type === 'jsonobject') return json(options, id);
  if (property.type === 'image') return image(options, id);
  if (template?.choices) return choice(options, id, template.choices);
  if (template?.input === 'text') return text(options, id);
  return template?.input === 'link' ? address(options, id) : line(options, id);
};
