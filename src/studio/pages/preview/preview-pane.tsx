import { useSignal } from '@preact/signals';
import { labelOf } from '../../campaign/member-words.ts';
import type { Editor } from '../editor/editor-state.ts';
import { Segments } from '../parts/segments.tsx';
import { signedIn } from '../shell/session.ts';
import { Device } from './device.tsx';
import type { FrameProblem, FrameRequest } from './frame-message.ts';
import { PersonChoice, type PersonChosen, personBodyOf } from './person-choice.tsx';
import { PreviewOptions, type Template, type Trial } from './preview-options.tsx';
import { SiteLinkDialog } from './site-link-dialog.tsx';
import { usePreview } from './use-preview.ts';
import './preview.css';

const WIDTHS = [
  { value: '360', name: '360' },
  { value: '768', name: '768' },
  { value: '1280', name: '1280' },
] as const;
type Width = (typeof WIDTHS)[number]['value'];

/** What somebody would see, beside what is being written. */
export const PreviewPane = ({ editor, variantId }: { editor: Editor; variantId: string }) => {
  const { workspace } = signedIn();
  const campaign = editor.campaign.value;
  const placementId = useSignal(campaign.placements[0] ?? '');
  const width = useSignal<Width>('360');
  const scheme = useSignal<'light' | 'dark'>('light');
  const chosenTemplate = useSignal<Template | null>(null);
  const trials = useSignal<Trial[]>([]);
  const person = useSignal<PersonChosen>({ kind: 'new', name: '' });
  const drawnProblems = useSignal<FrameProblem[]>([]);
  const isLinking = useSignal(false);

  const placement = campaign.placements.includes(placementId.value)
    ? placementId.value
    : campaign.placements[0];
  const template =
    chosenTemplate.value ?? workspace.placements?.find(({ id }) => id === placement)?.template ?? 'card';
  const { answer, problem } = usePreview({
    campaign,
    variant_id: variantId,
    person: personBodyOf(person.value),
  });

  const request: FrameRequest = {
    type: 'placard:preview',
    template,
    properties: answer?.properties ?? null,
    scheme: scheme.value,
    isRightToLeft: trials.value.includes('isRightToLeft'),
    isLargeText: trials.value.includes('isLargeText'),
    hasLongWords: trials.value.includes('hasLongWords'),
    site: workspace.sites[0] ?? null,
  };
  const who = person.value.kind === 'new' ? 'Somebody new' : person.value.name;

  return (
    <section class="preview" aria-label="Preview">
      <div class="preview-tools">
        <PersonChoice
          chosen={person.value}
          onChoose={(chosen) => {
            person.value = chosen;
          }}
        />
        <Segments
          label="Width"
          isLabelHidden
          options={WIDTHS}
          chosen={width.value}
          onChoose={(value) => {
            width.value = value;
          }}
        />
        <Segments
          label="Page"
          isLabelHidden
          options={[
            { value: 'light', name: 'Light' },
            { value: 'dark', name: 'Dark' },
          ]}
          chosen={scheme.value}
          onChoose={(value) => {
            scheme.value = value;
          }}
        />
      </div>
      <Device
        width={Number(width.value)}
        request={request}
        onDrawn={(problems) => {
          drawnProblems.value = problems;
        }}
      />
      <div class="preview-said" role="status">
        {problem && <p class="field-problem">{problem}</p>}
        {answer?.properties === null && <p>It cannot be drawn like this: see what is to do.</p>}
        {answer?.properties && !answer.inAudience && (
          <p>{who} is not in the audience. You see it as if they were.</p>
        )}
        {drawnProblems.value.map(({ property, words }) => (
          <p key={property + words} class="field-warning">
            {labelOf(property)}: {words}
          </p>
        ))}
      </div>
      {!editor.isReadOnly && workspace.sites.length > 0 && (
        <button
          type="button"
          class="button"
          disabled={!editor.isDraft.value}
          title={
            editor.isDraft.value ? undefined : 'Only a draft needs a preview: this is published as it is'
          }
          onClick={async () => {
            await editor.flush();
            isLinking.value = true;
          }}
        >
          Preview on the site …
        </button>
      )}
      {isLinking.value && (
        <SiteLinkDialog
          editor={editor}
          variantId={variantId}
          persona={person.value.kind === 'persona' ? person.value.name : null}
          onClose={() => {
            isLinking.value = false;
          }}
        />
      )}
      <PreviewOptions
        placements={campaign.placements}
        placement={placement ?? ''}
        onPlacement={(id) => {
          placementId.value = id;
        }}
        template={template}
        onTemplate={(value) => {
          chosenTemplate.value = value;
        }}
        trials={trials}
      />
    </section>
  );
};
