import { useSignal } from '@preact/signals';
import { TEMPLATE_PROPERTIES, type TemplateProperty } from '../../../templates/index.ts';
import type { PropertyText, VariantText } from '../../campaign/campaign-text.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import { checksAt, describedBy, Field, hasError, MomentInput } from '../parts/fields.tsx';
import { CustomProperties } from './custom-properties.tsx';
import type { Editor } from './editor-state.ts';
import { OnClick } from './on-click.tsx';
import { Personalise, WordsInput } from './words-input.tsx';

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
    moment: () => (
      <MomentInput
        id={id}
        value={text === '' ? null : text}
        isInvalid={hasError(checks)}
        describedBy={describedBy(id)}
        onChange={(moment) => put(moment ?? '')}
      />
    ),
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

/** What most banners have; the rest is behind "More". */
const FIRST = ['headline', 'body', 'button_text', 'link', 'image', 'image_alt'];

/** Checks of what a click does, by their paths in it. */
const checksOf = (checks: readonly DraftCheck[], index: number): DraftCheck[] =>
  checksAt(checks, 'variants', index, 'on_click').map((check) => ({ ...check, path: check.path.slice(3) }));

/** What a variant shows. Fields of the templates are always there: an empty one is not in the campaign. */
export const Properties = ({ editor, variant }: { editor: Editor; variant: VariantText }) => {
  const { variants } = editor.campaign.value;
  const index = variants.findIndex(({ variant_id }) => variant_id === variant.variant_id);
  const checks = checksAt(editor.checks.value, 'variants', index, 'properties');
  const change = (make: (before: VariantText) => VariantText, mark: string) =>
    editor.change(
      (campaign) => ({
        ...campaign,
        variants: campaign.variants.map((each) =>
          each.variant_id === variant.variant_id ? make(each) : each,
        ),
      }),
      `${variant.variant_id} ${mark}`,
    );
  const put = (name: string, property: PropertyText | null) =>
    change(({ properties, ...rest }) => {
      const { [name]: _, ...others } = properties;
      if (property === null) return { ...rest, properties: others };
      return { ...rest, properties: { ...properties, [name]: property } };
    }, name);
  const field = ({ name }: { name: string }) => (
    <TemplateField
      key={name}
      name={name}
      property={variant.properties[name]}
      checks={checks.filter(({ path }) => path[3] === name)}
      onChange={(property) => put(name, property)}
    />
  );
  const minutes = variant.expires_after_seconds ? variant.expires_after_seconds / 60 : '';
  return (
    <div class="properties">
      {TEMPLATE_PROPERTIES.filter(({ name }) => FIRST.includes(name)).map(field)}
      <details class="more">
        <summary>More: theme, close button, other properties</summary>
        <div class="properties">
          {TEMPLATE_PROPERTIES.filter(({ name }) => !FIRST.includes(name)).map(field)}
          <div class="field">
            <label for="expires">A page keeps it for, in minutes</label>
            <input
              id="expires"
              type="number"
              min="0"
              step="any"
              value={minutes}
              aria-describedby="expires-help"
              onInput={(event) => {
                const seconds = Math.round(event.currentTarget.valueAsNumber * 60);
                change(({ expires_after_seconds: _, ...rest }) => {
                  return seconds > 0 ? { ...rest, expires_after_seconds: seconds } : rest;
                }, 'expires');
              }}
            />
            <p class="field-help" id="expires-help">
              So long a page may show it without asking again, offline too. After a stop no page shows it for
              longer. Empty: until the campaign ends.
            </p>
          </div>
          <OnClick variant={variant} checks={checksOf(editor.checks.value, index)} change={change} />
          <CustomProperties properties={variant.properties} checks={checks} onChange={put} />
        </div>
      </details>
    </div>
  );
};
