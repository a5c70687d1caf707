import { useSignal } from '@preact/signals';
import { TEMPLATE_PROPERTIES, type TemplateProperty } from '../../../templates/index.ts';
import type { OnClickJson, PropertyJson, VariantJson } from '../../campaign/campaign-json.ts';
import { formatScalar, parseScalar } from '../../campaign/scalar-text.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import { Select } from '../components/controls.tsx';
import {
  checksAt,
  describedBy,
  Field,
  hasError,
  ListField,
  MomentInput,
  NumberField,
  TextField,
} from '../components/fields.tsx';
import { wholeMoment } from '../components/format.ts';
import { EVENT_NAMES, NameLists, useNames } from '../components/suggestions.tsx';
import { signedIn } from '../shell/session.ts';
import { CustomProperties } from './custom-properties.tsx';
import type { Editor } from './editor-state.ts';
import { ImageButton } from './images.tsx';
import { getPlacementTemplates } from './placement-templates.ts';
import { Personalise, WordsInput } from './text-with-variables.tsx';

interface TemplateFieldProps {
  name: string;
  /** Property; `undefined` if not set in the campaign. */
  property: PropertyJson | undefined;
  checks: readonly DraftCheck[];
  /** Placements of the campaign. */
  placements: readonly string[];
  /** Called with the new property; `null` removes it. */
  onChange(property: PropertyJson | null): void;
}

type Input = TemplateProperty['input'];

const YES_OR_NO = [
  { value: '', name: 'Template default' },
  { value: 'true', name: 'Yes' },
  { value: 'false', name: 'No' },
];

/** Returns the help of a date: the date with its time zone, or the time zone of the input. */
const describeMoment = (text: string): string =>
  Number.isNaN(Date.parse(text)) ? `In ${signedIn().workspace.timeZone}.` : wholeMoment(text);

/** Input for a property of the ready-made templates. */
const TemplateField = ({ name, property, checks: found, placements, onChange }: TemplateFieldProps) => {
  const isVisited = useSignal(false);
  const template: TemplateProperty = TEMPLATE_PROPERTIES.find((each) => each.name === name)!;
  const id = `property-${name}`;
  const text = property === undefined ? '' : String(property.value);
  // An empty field shows no error before its first visit. The list of checks contains the error.
  const checks = text === '' && !isVisited.value ? [] : found;
  const put = (value: string) =>
    onChange(value === '' ? null : { type: property?.type ?? template.type, value });
  const shared = { id, 'aria-invalid': hasError(checks), 'aria-describedby': describedBy(id) };

  const textField = (rows: number, isLine: boolean) => (
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
  const inputs: Record<Input, () => preact.JSX.Element> = {
    line: () => textField(1, true),
    text: () => textField(3, false),
    link: address,
    widths: address,
    image: address,
    moment: () => (
      <MomentInput
        id={id}
        value={text === '' ? null : text}
        isInvalid={hasError(checks)}
        describedBy={describedBy(id)}
        onChange={(moment) => put(moment ?? '')}
      />
    ),
    choice: () => {
      const choices = (template.choices ?? []).map((value) => ({ value, name: value }));
      return (
        <Select
          {...shared}
          value={text}
          options={[{ value: '', name: 'Default' }, ...choices]}
          onChoose={put}
        />
      );
    },
    switch: () => (
      <Select
        {...shared}
        value={text}
        options={YES_OR_NO}
        onChoose={(chosen) => onChange(chosen === '' ? null : { type: 'boolean', value: chosen === 'true' })}
      />
    ),
  };
  return (
    <Field
      id={id}
      label={template.label}
      help={template.input === 'moment' ? describeMoment(text) : template.help}
      checks={checks}
      onLeave={() => {
        isVisited.value = true;
      }}
      aside={
        template.isPersonal ? (
          <Personalise field={id} label={template.label} value={text} onChange={put} />
        ) : (
          template.input === 'image' && (
            <ImageButton label={template.label} placements={placements} onChoose={put} />
          )
        )
      }
    >
      {inputs[template.input]()}
    </Field>
  );
};

interface OnClickProps {
  variant: VariantJson;
  checks: readonly DraftCheck[];
  change(make: (before: VariantJson) => VariantJson, mark: string): void;
}

/** Effect of a click on the user's profile. */
const OnClick = ({ variant, checks, change }: OnClickProps) => {
  const { event, attributes } = variant.on_click ?? {};
  const put = (changed: OnClickJson) =>
    change(({ on_click: before, ...rest }) => {
      const next = { ...before, ...changed };
      const isEmpty = !next.event && Object.keys(next.attributes ?? {}).length === 0;
      return isEmpty ? rest : { ...rest, on_click: next };
    }, 'on click');
  return (
    <>
      <NameLists names={useNames()} />
      <TextField
        id="on-click-event"
        label="Event on click"
        help="Custom event logged on click. Usable in goals and audiences."
        checks={checks.filter(({ path }) => path[3] === 'event')}
        list={EVENT_NAMES}
        maxLength={255}
        value={event ?? ''}
        onType={(value) => put({ event: value === '' ? null : value })}
      />
      <ListField
        id="on-click-attributes"
        label="Attributes set on click"
        help="name=value, comma-separated: wants_news=true, tier=gold."
        checks={checks.filter(({ path }) => path[3] === 'attributes')}
        values={Object.entries(attributes ?? {}).map(([name, value]) => `${name}=${formatScalar(value)}`)}
        onChange={(lines) => {
          const pairs = lines.flatMap((line) => {
            const [, name, value = 'true'] = /^([^=]+)(?:=(.*))?$/s.exec(line) ?? [];
            return name === undefined ? [] : [[name.trim(), parseScalar(value)] as const];
          });
          put({ attributes: pairs.length > 0 ? Object.fromEntries(pairs) : null });
        }}
      />
    </>
  );
};

/**
 * Returns the properties set in the variant and those of the placements' templates, or of all templates if one is unknown.
 */
const getTemplateProperties = (
  placementIds: readonly string[],
  { properties }: VariantJson,
): readonly TemplateProperty[] => {
  const templates = getPlacementTemplates(placementIds);
  if (templates === null) return TEMPLATE_PROPERTIES;
  return TEMPLATE_PROPERTIES.filter(
    ({ name }) =>
      Object.hasOwn(properties, name) ||
      templates.some((entry) => entry.properties.some((each) => each.name === name)),
  );
};

/** Properties of a variant. Shows all template fields. Empty fields are not in the campaign. */
export const Properties = ({ editor, variant }: { editor: Editor; variant: VariantJson }) => {
  const { variants, placements } = editor.campaign.value;
  const index = variants.findIndex(({ variant_id }) => variant_id === variant.variant_id);
  const checks = checksAt(editor.checks.value, 'variants', index, 'properties');
  const change = (make: (before: VariantJson) => VariantJson, mark: string) =>
    editor.changeVariant(variant.variant_id, make, mark);
  const put = (name: string, property: PropertyJson | null) =>
    change((before) => {
      const { [name]: _, ...others } = before.properties;
      return {
        ...before,
        properties: property === null ? others : { ...before.properties, [name]: property },
      };
    }, name);
  const field = ({ name }: { name: string }) => (
    <TemplateField
      key={name}
      name={name}
      property={variant.properties[name]}
      checks={checks.filter(({ path }) => path[3] === name)}
      placements={placements}
      onChange={(property) => put(name, property)}
    />
  );
  const fields = getTemplateProperties(placements, variant);
  const seconds = variant.cache_ttl_seconds;
  return (
    <div class="stack">
      {fields.filter(({ isRare }) => !isRare).map(field)}
      <details class="more">
        <summary>More: theme, close button, other properties</summary>
        <div class="stack">
          {fields.filter(({ isRare }) => isRare).map(field)}
          <NumberField
            id="expires"
            label="Cache for (minutes)"
            help="How long pages may show it without a new sync, even offline or after a stop. Empty: until the campaign ends."
            isFraction
            value={seconds ? seconds / 60 : null}
            onChange={(minutes) =>
              change(({ cache_ttl_seconds: _, ...rest }) => {
                return minutes ? { ...rest, cache_ttl_seconds: Math.round(minutes * 60) } : rest;
              }, 'expires')
            }
          />
          <OnClick
            variant={variant}
            checks={checksAt(editor.checks.value, 'variants', index, 'on_click')}
            change={change}
          />
          <CustomProperties properties={variant.properties} checks={checks} onChange={put} />
        </div>
      </details>
    </div>
  );
};
