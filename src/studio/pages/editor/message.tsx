import { type CampaignText, type VariantText, variantName } from '../../campaign/campaign-text.ts';
import { freeVariantId } from '../../campaign/free-variant-id.ts';
import { sharesOf } from '../../campaign/shares.ts';
import {
  checksAt,
  describedBy,
  Field,
  hasError,
  ListField,
  NumberField,
  Segments,
} from '../parts/fields.tsx';
import { signedIn } from '../shell/session.ts';
import type { Editor } from './editor-state.ts';
import { Languages } from './languages.tsx';
import { Properties } from './properties.tsx';
import { Translation } from './translation.tsx';
import './blocks.css';

interface VariantsProps {
  editor: Editor;
  chosen: string;
  onChoose(variantId: string): void;
}

const percent = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });

/** The bar of who gets what: every variant and the control group, by their real shares of the audience. */
const ShareBar = ({ campaign }: { campaign: CampaignText }) => {
  const shares = sharesOf(campaign);
  return (
    <div>
      <div class="shares" aria-hidden="true">
        {shares.map(({ variantId, percent: share }) => (
          <span
            key={variantId}
            data-control={variantId === null}
            style={{ flexGrow: String(Math.max(share, 0.01)) }}
          />
        ))}
      </div>
      <ul class="shares-words" aria-label="Shares of the audience">
        {shares.map(({ variantId, name, percent: share }) => (
          <li key={variantId} data-control={variantId === null}>
            <bdi>{name}</bdi> {percent.format(share)} %
          </li>
        ))}
      </ul>
    </div>
  );
};

/** The variants of the message, how the audience is divided among them, and the group that sees nothing. */
export const Variants = ({ editor, chosen, onChoose }: VariantsProps) => {
  const campaign = editor.campaign.value;
  const { variants } = campaign;
  const current = variants.find(({ variant_id }) => variant_id === chosen)!;
  const put = (changed: Partial<VariantText>, mark: string) =>
    editor.change(
      (before) => ({
        ...before,
        variants: before.variants.map((each) =>
          each.variant_id === chosen ? { ...each, ...changed } : each,
        ),
      }),
      mark,
    );
  const add = () => {
    const variant_id = freeVariantId([...variants, ...(editor.row.published?.campaign.variants ?? [])]);
    const name = variant_id.toUpperCase();
    editor.change((before) => ({
      ...before,
      variants: [...before.variants, { ...structuredClone(current), variant_id, name }],
    }));
    onChoose(variant_id);
  };
  const remove = () => {
    const at = variants.indexOf(current);
    editor.change((before) => ({
      ...before,
      variants: before.variants.filter(({ variant_id }) => variant_id !== chosen),
    }));
    onChoose((variants[at + 1] ?? variants[at - 1])!.variant_id);
    // The button that was pressed is gone with the last but one.
    document.getElementById('add-variant')?.focus();
  };

  return (
    <section class="variants" aria-label="Variants">
      <div class="variants-choice">
        <Segments
          label="Variant"
          options={variants.map((each) => ({ value: each.variant_id, name: variantName(each) }))}
          chosen={chosen}
          onChoose={onChoose}
        />
        <button type="button" class="button" id="add-variant" onClick={add}>
          Add a variant
        </button>
        {variants.length > 1 && (
          <button type="button" class="button quiet" onClick={remove}>
            Remove {variantName(current)}
          </button>
        )}
      </div>
      <ShareBar campaign={campaign} />
      <div class="numbers">
        {variants.length > 1 && (
          <>
            <div class="field">
              <label for="variant-name">Name of the variant</label>
              <input
                id="variant-name"
                dir="auto"
                maxLength={80}
                placeholder={current.variant_id}
                value={current.name ?? ''}
                onInput={(event) => put({ name: event.currentTarget.value }, `${chosen} name`)}
              />
            </div>
            <NumberField
              id="variant-weight"
              label="Weight"
              placeholder="1"
              isFraction
              value={current.weight}
              onChange={(weight) => put({ weight: weight ?? 1 }, `${chosen} weight`)}
            />
          </>
        )}
        <NumberField
          id="control_percentage"
          label="Control group, %"
          placeholder="0"
          max={100}
          isFraction
          value={campaign.control_percentage}
          checks={checksAt(editor.checks.value, 'control_percentage')}
          onChange={(control) =>
            editor.change((before) => ({ ...before, control_percentage: control ?? 0 }), 'control')
          }
        />
      </div>
      <p class="field-help">
        {variants.length > 1 && 'A variant of weight 2 gets twice the people of one of weight 1. '}The control
        group sees nothing, so that you can tell what people would have done anyway. Ten per cent is a good
        start.
      </p>
    </section>
  );
};

interface MessageProps {
  editor: Editor;
  variant: VariantText;
  onVariant(variantId: string): void;
  /** The language that is written in; `null` is the campaign's own. */
  language: string | null;
  onLanguage(language: string | null): void;
}

const Placements = ({ editor }: { editor: Editor }) => {
  const { placements } = editor.campaign.value;
  const checks = checksAt(editor.checks.value, 'placements');
  const known = signedIn().workspace.placements;
  if (known === null) {
    return (
      <ListField
        id="placements"
        label="Placements"
        help="IDs of placements, separated by commas."
        checks={checks}
        values={placements}
        onChange={(ids) => editor.change((campaign) => ({ ...campaign, placements: ids }))}
      />
    );
  }
  return (
    <fieldset class="field" id="placements" tabIndex={-1} aria-describedby="placements-problem">
      <legend class="label">Where it is shown</legend>
      <div class="choices">
        {known.map(({ id, name }) => (
          <label key={id} class="check-label">
            <input
              type="checkbox"
              checked={placements.includes(id)}
              onChange={(event) => {
                const isChosen = event.currentTarget.checked;
                editor.change((campaign) => ({
                  ...campaign,
                  placements: isChosen
                    ? [...campaign.placements, id]
                    : campaign.placements.filter((each) => each !== id),
                }));
              }}
            />
            {name}
          </label>
        ))}
      </div>
      <p class="field-problem" id="placements-problem">
        {checks.map(({ words }) => words).join(' ')}
      </p>
    </fieldset>
  );
};

/** What is shown, and where. */
export const Message = ({ editor, variant, onVariant, language, onLanguage }: MessageProps) => {
  const campaign = editor.campaign.value;
  const checks = checksAt(editor.checks.value, 'name');
  return (
    <>
      <Field id="name" label="Name" help="For you and your colleagues; nobody else sees it." checks={checks}>
        <input
          id="name"
          dir="auto"
          maxLength={200}
          value={campaign.name ?? ''}
          aria-invalid={hasError(checks)}
          aria-describedby={describedBy('name')}
          onInput={(event) => {
            const name = event.currentTarget.value;
            editor.change((before) => ({ ...before, name }), 'name');
          }}
        />
      </Field>
      <Placements editor={editor} />
      <Variants editor={editor} chosen={variant.variant_id} onChoose={onVariant} />
      <Languages editor={editor} chosen={language} onChoose={onLanguage} />
      {language === null ? (
        <Properties key={variant.variant_id} editor={editor} variant={variant} />
      ) : (
        <Translation
          key={`${variant.variant_id} ${language}`}
          editor={editor}
          variant={variant}
          language={language}
        />
      )}
    </>
  );
};
