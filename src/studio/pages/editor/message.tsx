import {
  type CampaignJson,
  freeVariantId,
  type VariantJson,
  variantName,
} from '../../campaign/campaign-json.ts';
import { getShares } from '../../campaign/shares.ts';
import { getArmColor } from '../components/arm-colors.ts';
import { Button, CheckBoxes, Segments } from '../components/controls.tsx';
import { checksAt, IssueList, ListField, NumberField, TextField } from '../components/fields.tsx';
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

/** Bar of the variants and the control group, by their shares of the audience. */
const ShareBar = ({ campaign }: { campaign: CampaignJson }) => {
  const shares = getShares(campaign).map((share, index) => ({
    ...share,
    color: share.variantId === null ? 'var(--line)' : getArmColor(index),
  }));
  return (
    <div>
      <div class="shares" aria-hidden="true">
        {shares.map(({ variantId, percent: share, color }) => (
          <span key={variantId} style={{ flexGrow: String(Math.max(share, 0.01)), '--share': color }} />
        ))}
      </div>
      <ul class="row shares-words" aria-label="Shares of the audience">
        {shares.map(({ variantId, name, percent: share, color }) => (
          <li key={variantId} style={{ '--share': color }}>
            <bdi>{name}</bdi> {percent.format(share)}%
          </li>
        ))}
      </ul>
    </div>
  );
};

/** Variants, their shares and the control group. */
export const Variants = ({ editor, chosen, onChoose }: VariantsProps) => {
  const campaign = editor.campaign.value;
  const { variants } = campaign;
  const current = variants.find(({ variant_id }) => variant_id === chosen)!;
  const put = (changed: Partial<VariantJson>, mark: string) =>
    editor.changeVariant(chosen, (before) => ({ ...before, ...changed }), mark);
  const add = () => {
    const variant_id = freeVariantId([...variants, ...(editor.row.published?.campaign.variants ?? [])]);
    const added = { ...structuredClone(current), variant_id, name: variant_id.toUpperCase() };
    editor.set('variants', [...variants, added], '');
    onChoose(variant_id);
  };
  const remove = () => {
    const at = variants.indexOf(current);
    editor.set('variants', variants.toSpliced(at, 1), '');
    onChoose((variants[at + 1] ?? variants[at - 1])!.variant_id);
    // Moves the focus, because the focused button disappears if only one variant is left.
    document.getElementById('add-variant')?.focus();
  };

  return (
    <section class="stack variants" aria-label="Variants">
      <div class="row low">
        <Segments
          label="Variant"
          options={variants.map((each) => ({ value: each.variant_id, name: variantName(each) }))}
          chosen={chosen}
          onChoose={onChoose}
        />
        <Button id="add-variant" onClick={add}>
          Add variant
        </Button>
        {variants.length > 1 && (
          <Button look="quiet" onClick={remove}>
            Remove {variantName(current)}
          </Button>
        )}
      </div>
      <ShareBar campaign={campaign} />
      <div class="numbers">
        {variants.length > 1 && (
          <>
            <TextField
              id="variant-name"
              label="Variant name"
              dir="auto"
              maxLength={80}
              placeholder={current.variant_id}
              value={current.name ?? ''}
              onType={(name) => put({ name }, 'name')}
            />
            <NumberField
              id="variant-weight"
              label="Weight"
              placeholder="1"
              isFraction
              isRequired={current.weight != null}
              value={current.weight}
              onChange={(weight) => put({ weight: weight ?? 1 }, 'weight')}
            />
          </>
        )}
        <NumberField
          id="control_percentage"
          label="Control group (%)"
          placeholder="0"
          max={100}
          isFraction
          value={campaign.control_percentage}
          checks={checksAt(editor.checks.value, 'control_percentage')}
          onChange={(control) => editor.set('control_percentage', control ?? 0)}
        />
      </div>
      <p class="field-help">
        {variants.length > 1 && 'Traffic is split by weight. '}The control group sees nothing, to measure
        lift. Start with 10%.
      </p>
    </section>
  );
};

interface MessageProps {
  editor: Editor;
  variant: VariantJson;
  onVariant(variantId: string): void;
  /** Language being edited; `null` for the campaign's own. */
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
        help="Placement IDs, comma-separated."
        checks={checks}
        values={placements}
        onChange={(ids) => editor.set('placements', ids)}
      />
    );
  }
  return (
    <fieldset class="field" id="placements" tabIndex={-1} aria-describedby="placements-problem">
      <legend class="label">Placements</legend>
      <CheckBoxes
        options={known.map(({ id, name }) => ({ value: id, name }))}
        chosen={placements}
        onChoose={(ids) => editor.set('placements', ids, '')}
      />
      <div id="placements-problem">
        <IssueList checks={checks} />
      </div>
    </fieldset>
  );
};

/** Section of the editor for content and placements. */
export const Message = ({ editor, variant, onVariant, language, onLanguage }: MessageProps) => {
  return (
    <>
      <TextField
        id="name"
        label="Name"
        help="Internal name."
        dir="auto"
        maxLength={200}
        checks={checksAt(editor.checks.value, 'name')}
        value={editor.campaign.value.name ?? ''}
        onType={(name) => editor.set('name', name)}
      />
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
