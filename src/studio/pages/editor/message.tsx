import type { VariantText } from '../../campaign/campaign-text.ts';
import { signedIn } from '../shell/session.ts';
import type { Editor } from './editor-state.ts';
import { checksAt, describedBy, Field, hasError } from './field.tsx';
import { ListField } from './list-field.tsx';
import { Properties } from './properties.tsx';
import { Variants } from './variants.tsx';

interface MessageProps {
  editor: Editor;
  variant: VariantText;
  onVariant(variantId: string): void;
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
export const Message = ({ editor, variant, onVariant }: MessageProps) => {
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
      <Properties key={variant.variant_id} editor={editor} variant={variant} />
    </>
  );
};
