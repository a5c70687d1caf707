import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { PlacementTemplate } from '../../../service/index.ts';
import { TEMPLATE_CATALOGUE } from '../../../templates/index.ts';
import type { CampaignJson } from '../../campaign/campaign-json.ts';
import { getFieldLabel } from '../../campaign/describe-fields.ts';
import { isRightToLeft, languageName } from '../../campaign/translations.ts';
import type { PreviewResponse } from '../../server/routes/preview.ts';
import { call } from '../call.ts';
import { CheckBoxes, into, type Option, Segments } from '../components/controls.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { useLoad } from '../components/loading.tsx';
import type { Editor } from '../editor/editor-state.ts';
import { placementName, signedIn } from '../shell/session.ts';
import { Device } from './device.tsx';
import type { FrameProblem, FrameRequest } from './frame.ts';
import { PersonChoice, type PersonChosen, toPersonBody } from './person-choice.tsx';
import { SiteLinkDialog } from './site-link-dialog.tsx';

/** Debounce of the preview, in milliseconds. */
const TYPING_MS = 120;

/** Renders a draft for a user, debounced. */
const usePreview = (body: {
  campaign: CampaignJson;
  variant_id: string;
  person: object;
  language: string | null;
}) => {
  const last = useRef<PreviewResponse | null>(null);
  const { loaded } = useLoad(
    async (signal) => {
      const next = await call<PreviewResponse>('POST', '/api/preview', { body, signal });
      // Keeps the last valid preview if the Liquid is invalid.
      if (!signal.aborted && (next.properties !== null || last.current === null)) last.current = next;
      return last.current;
    },
    JSON.stringify(body),
    { pauseMs: TYPING_MS, keepsLast: true },
  );
  return { response: last.current, problem: loaded.state === 'failed' ? loaded.message : null };
};

const TEMPLATES: readonly Option<PlacementTemplate>[] = TEMPLATE_CATALOGUE.map(({ name, label }) => ({
  value: name,
  name: label,
}));
export type PreviewOptions = 'isRightToLeft' | 'isLargeText' | 'hasLongWords';
const TRIALS: readonly Option<PreviewOptions>[] = [
  { value: 'isRightToLeft', name: 'Right to left' },
  { value: 'isLargeText', name: 'Text at 200%' },
  { value: 'hasLongWords', name: 'Long words' },
];

const WIDTHS = [
  { value: '360', name: '360' },
  { value: '768', name: '768' },
  { value: '1280', name: '1280' },
] as const;
type Width = (typeof WIDTHS)[number]['value'];

interface PreviewPaneProps {
  editor: Editor;
  variantId: string;
  /** Language being edited; `null` for the campaign's own, with the preview in the user's language. */
  language: string | null;
}

/** Live preview for a user. */
export const PreviewPane = ({ editor, variantId, language }: PreviewPaneProps) => {
  const { workspace } = signedIn();
  const campaign = editor.campaign.value;
  const placementId = useSignal(campaign.placements[0] ?? '');
  const width = useSignal<Width>('360');
  const scheme = useSignal<'light' | 'dark'>('light');
  /** Template chosen for the preview; `null` for the template of the placement. */
  const chosenTemplate = useSignal<PlacementTemplate | null>(null);
  const trials = useSignal<PreviewOptions[]>([]);
  const person = useSignal<PersonChosen>({ kind: 'new', name: '' });
  const drawnProblems = useSignal<FrameProblem[]>([]);

  const placement = campaign.placements.includes(placementId.value)
    ? placementId.value
    : campaign.placements[0];
  const template =
    chosenTemplate.value ?? workspace.placements?.find(({ id }) => id === placement)?.template ?? 'card';
  const { response, problem } = usePreview({
    campaign,
    variant_id: variantId,
    person: toPersonBody(person.value),
    language,
  });

  const request: FrameRequest = {
    type: 'placard:preview',
    template,
    properties: response?.properties ?? null,
    scheme: scheme.value,
    isRightToLeft: trials.value.includes('isRightToLeft') || isRightToLeft(response?.language ?? 'en'),
    isLargeText: trials.value.includes('isLargeText'),
    hasLongWords: trials.value.includes('hasLongWords'),
    site: workspace.sites[0] ?? null,
  };
  const who = person.value.name || 'A new user';

  return (
    <section class="panel preview" aria-label="Preview">
      <div class="row">
        <PersonChoice chosen={person.value} onChoose={into(person)} />
        <Segments label="Width" isLabelHidden options={WIDTHS} chosen={width.value} onChoose={into(width)} />
        <Segments
          label="Page"
          isLabelHidden
          options={[
            { value: 'light', name: 'Light' },
            { value: 'dark', name: 'Dark' },
          ]}
          chosen={scheme.value}
          onChoose={into(scheme)}
        />
      </div>
      <Device width={Number(width.value)} request={request} onDrawn={into(drawnProblems)} />
      <div class="row preview-foot">
        {!editor.isReadOnly && workspace.sites.length > 0 && (
          <DialogButton
            name="Preview on the site…"
            disabled={!editor.isDraft.value && (!editor.row.published || editor.row.isArchived)}
            before={editor.flush}
          >
            {(close) => (
              <SiteLinkDialog
                editor={editor}
                variantId={variantId}
                persona={person.value.kind === 'persona' ? person.value.name : null}
                language={language}
                onClose={close}
              />
            )}
          </DialogButton>
        )}
        <div class="preview-said" role="status">
          {!editor.isDraft.value && <p>Published version.</p>}
          {problem && <p class="field-problem">{problem}</p>}
          {response?.properties === null && <p>Fix the errors to preview.</p>}
          {response?.language && <p>In {languageName(response.language)}.</p>}
          {response?.properties && !response.inAudience && <p>{who} is not in the audience.</p>}
          {drawnProblems.value.map(({ property, message }) => (
            <p key={property + message} class="field-warning">
              {getFieldLabel(property)}: {message}
            </p>
          ))}
        </div>
      </div>
      <details class="more">
        <summary>Placement, template and stress tests</summary>
        <div class="stack">
          {campaign.placements.length > 1 && (
            <Segments
              label="Placement"
              options={campaign.placements.map((id) => ({ value: id, name: placementName(id) }))}
              chosen={placement ?? ''}
              onChoose={into(placementId)}
            />
          )}
          <Segments
            label="Template"
            options={TEMPLATES}
            chosen={template}
            onChoose={(value: PlacementTemplate) => {
              chosenTemplate.value = value;
            }}
          />
          <fieldset>
            <legend class="label">Test with</legend>
            <CheckBoxes options={TRIALS} chosen={trials.value} onChoose={into(trials)} />
          </fieldset>
        </div>
      </details>
    </section>
  );
};
