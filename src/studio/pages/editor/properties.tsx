import { TEMPLATE_PROPERTIES } from '../../../templates/index.ts';
import type { PropertyText, VariantText } from '../../campaign/campaign-text.ts';
import { CustomProperties } from './custom-properties.tsx';
import type { Editor } from './editor-state.ts';
import { checksAt } from './field.tsx';
import { TemplateField } from './template-field.tsx';

/** What most banners have; the rest is behind "More". */
const FIRST = ['headline', 'body', 'button_text', 'link', 'image', 'image_alt'];
const SECONDS_A_DAY = 86_400;

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
  const days = variant.expires_after_seconds ? variant.expires_after_seconds / SECONDS_A_DAY : '';
  return (
    <div class="properties">
      {TEMPLATE_PROPERTIES.filter(({ name }) => FIRST.includes(name)).map(field)}
      <details class="more">
        <summary>More: theme, close button, properties of your own</summary>
        <div class="properties">
          {TEMPLATE_PROPERTIES.filter(({ name }) => !FIRST.includes(name)).map(field)}
          <div class="field">
            <label for="expires">A page keeps it for, in days</label>
            <input
              id="expires"
              type="number"
              min="0"
              step="any"
              value={days}
              aria-describedby="expires-help"
              onInput={(event) => {
                const seconds = Math.round(event.currentTarget.valueAsNumber * SECONDS_A_DAY);
                change(({ expires_after_seconds: _, ...rest }) => {
                  return seconds > 0 ? { ...rest, expires_after_seconds: seconds } : rest;
                }, 'expires');
              }}
            />
            <p class="field-help" id="expires-help">
              So long a page may show it without asking again, offline too. Empty: until the campaign ends.
            </p>
          </div>
          <CustomProperties properties={variant.properties} checks={checks} onChange={put} />
        </div>
      </details>
    </div>
  );
};
