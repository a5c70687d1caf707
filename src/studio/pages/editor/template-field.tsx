import { useSignal } from '@preact/signals';
import { TEMPLATE_PROPERTIES, type TemplateProperty } from '../../../templates/index.ts';
import type { PropertyText } from '../../campaign/campaign-text.ts';
import type { DraftCheck } from '../../server/draft-check.ts';
import { describedBy, Field, hasError } from './field.tsx';
import { Personalise } from './personalise.tsx';
import { WordsInput } from './words-input.tsx';

interface TemplateFieldProps {
  name: string;
  /** `undefined` where the campaign does not have it. */
  property: PropertyText | undefined;
  checks: readonly DraftCheck[];
  /** `null` takes it out of the campaign. */
  onChange(property: PropertyText | null): void;
}

/** Texts that readers may find their own name in. */
const PERSONAL = ['headline', 'body', 'button_text'];

type Input = TemplateProperty['input'];

const YES_OR_NO = [
  { value: '', name: 'As the template does' },
  { value: 'true', name: 'Yes' },
  { value: 'false', name: 'No' },
];

/** One property of the ready-made templates, with the input that fits it. */
export const TemplateField = ({ name, property, checks: found, onChange }: TemplateFieldProps) => {
  const isVisited = useSignal(false);
  const template: TemplateProperty = TEMPLATE_PROPERTIES.find((each) => each.name === name)!;
  const id = `property-${name}`;
  const text = property === undefined ? '' : String(property.value);
  // A field that nobody has come to yet is not wrong for being empty: the list of checks says what is to do.
  const checks = text === '' && !isVisited.value ? [] : found;
  const put = (value: string) =>
    onChange(value === '' ? null : { type: property?.type ?? template.type, value });
  const shared = { id, 'aria-invalid': hasError(checks), 'aria-describedby': describedBy(id) };

  const inputs: Record<Input, () => preact.JSX.Element> = {
    line: () => words(1, true),
    text: () => words(3, false),
    link: () => address(),
    image: () => address(),
    choice: () => (
      <select {...shared} value={text} onChange={(event) => put(event.currentTarget.value)}>
        <option value="">Default</option>
        {(template.choices ?? []).map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    ),
    switch: () => (
      <select
        {...shared}
        value={text}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          onChange(chosen === '' ? null : { type: 'boolean', value: chosen === 'true' });
        }}
      >
        {YES_OR_NO.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.name}
          </option>
        ))}
      </select>
    ),
  };
  const words = (rows: number, isLine: boolean) => (
    <WordsInput
      id={id}
      value={text}
      rows={rows}
      isLine={isLine}
      isInvalid={hasError(checks)}
      describedBy={describedBy(id)}
      onChange={put}
    />
  );
  const address = () => (
    <input
      {...shared}
      type="text"
      inputMode="url"
      autoComplete="off"
      spellcheck={false}
      value={text}
      onInput={(event) => put(event.currentTarget.value.trim())}
    />
  );
  return (
    <Field
      id={id}
      label={template.label}
      help={template.help}
      checks={checks}
      onLeave={() => {
        isVisited.value = true;
      }}
      aside={
        PERSONAL.includes(name) && (
          <Personalise field={id} label={template.label} value={text} onChange={put} />
        )
      }
    >
      {inputs[template.input]()}
    </Field>
  );
};
