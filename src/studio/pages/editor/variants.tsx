import type { CampaignText, VariantText } from '../../campaign/campaign-text.ts';
import { variantName } from '../../campaign/campaign-text.ts';
import { freeVariantId } from '../../campaign/free-variant-id.ts';
import { sharesOf } from '../../campaign/shares.ts';
import { Segments } from '../parts/segments.tsx';
import type { Editor } from './editor-state.ts';
import './variants.css';

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
            <div class="field">
              <label for="variant-weight">Weight</label>
              <input
                id="variant-weight"
                type="number"
                min="0"
                step="any"
                value={current.weight ?? 1}
                onInput={(event) => {
                  const weight = event.currentTarget.valueAsNumber;
                  if (weight >= 0) put({ weight }, `${chosen} weight`);
                }}
              />
            </div>
          </>
        )}
        <div class="field">
          <label for="control_percentage">Control group, %</label>
          <input
            id="control_percentage"
            type="number"
            min="0"
            max="100"
            step="any"
            aria-describedby="control-help"
            value={campaign.control_percentage ?? 0}
            onInput={(event) => {
              const control = event.currentTarget.valueAsNumber;
              if (!(control >= 0 && control <= 100)) return;
              editor.change((before) => ({ ...before, control_percentage: control }), 'control');
            }}
          />
        </div>
      </div>
      <p class="field-help" id="control-help">
        The control group sees nothing, so that you can tell what people would have done anyway. Ten per cent
        is a good start.
      </p>
    </section>
  );
};
