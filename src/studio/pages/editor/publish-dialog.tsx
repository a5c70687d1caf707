import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { DAY_MS } from '../../../protocol/index.ts';
import { type CampaignJson, getCampaignName } from '../../campaign/campaign-json.ts';
import { describeAudience } from '../../campaign/describe-audience.ts';
import { canFallBelowControl } from '../../campaign/shares.ts';
import type { NamedCampaigns, PublishImpact } from '../../server/routes/publish-impact.ts';
import type { PublishResponse, ReleaseRow } from '../../server/routes/releases.ts';
import { ActionError, ApiError, call, describeError } from '../call.ts';
import { Button, CheckBoxes, into, Segments } from '../components/controls.tsx';
import { copyText, Dialog, NoteField } from '../components/dialog.tsx';
import { MomentField } from '../components/fields.tsx';
import { wholeMoment } from '../components/format.ts';
import { useLoad } from '../components/loading.tsx';
import { announce } from '../components/notices.tsx';
import { type ScheduledChoice, ScheduledChoiceField, scheduledIn } from '../history/scheduled.tsx';
import { audienceName, signedIn } from '../shell/session.ts';
import { Changes } from './changes.tsx';
import { CheckList, useChecks } from './edit-tab.tsx';
import { describeEditor, type Editor } from './editor-state.ts';
import { Reach } from './reach.tsx';
import './blocks.css';

const MAX_NAMED = 3;

/** Names of the first campaigns, with a control to show the others. */
const Names = ({ verb, named: { names, count } }: { verb: string; named: NamedCampaigns }) => {
  const isWhole = useSignal(false);
  if (count === 0) return null;
  const shown = isWhole.value ? names : names.slice(0, MAX_NAMED);
  const hidden = count - shown.length;
  return (
    <p>
      {verb} {shown.map((name) => `“${name}”`).join(', ')}
      {hidden > 0 && shown.length < names.length && (
        <>
          {' and '}
          <Button look="link" onClick={() => into(isWhole)(true)}>
            {hidden} more
          </Button>
        </>
      )}
      {hidden > 0 && shown.length === names.length && ` and ${hidden} more`}
    </p>
  );
};

/** Campaigns with lower and higher priority in each placement. */
const Effect = ({ effect }: { effect: PublishImpact }) => (
  <ul class="stack tight">
    {effect.placements.map(({ id, name, outranks, outrankedBy }) => (
      <li key={id}>
        <b>{name}</b>
        <Names verb="Overrides" named={outranks} />
        <Names verb="Shown after" named={outrankedBy} />
        {outranks.count + outrankedBy.count === 0 && <p class="muted">No other live campaign</p>}
      </li>
    ))}
  </ul>
);

interface TheirReleaseProps {
  theirs: ReleaseRow;
  mine: CampaignJson;
  onReplace(release: ReleaseRow): void;
}

/** Newer release with its changes that publishing would revert. */
const TheirRelease = ({ theirs, mine, onReplace }: TheirReleaseProps) => (
  <section class="panel notice" role="alert">
    <h3>
      {theirs.author} published release {theirs.release} on {wholeMoment(theirs.at)}
    </h3>
    <p>Your draft is based on an older release. Publishing it reverts their changes:</p>
    <Changes before={theirs.campaign} after={mine} />
    <div class="row notice-actions">
      <Button onClick={() => onReplace(theirs)}>Overwrite anyway</Button>
    </div>
  </section>
);

/** Dialog with the JSON and its changes, if campaigns are managed in the workspace file. */
export const CopyDialog = ({ editor, onClose }: { editor: Editor; onClose(): void }) => {
  const checked = useChecks(editor);
  const { campaign } = checked;
  const text = JSON.stringify(campaign, null, 2);
  const copy = async () => {
    await copyText(text, 'select the text above and copy it');
    return 'Copied. Replace the campaign with this ID in the workspace file.';
  };
  return (
    <Dialog
      title="Copy for the workspace file"
      isWide
      onClose={onClose}
      action={
        editor.errors.value.length > 0
          ? null
          : { name: 'Copy JSON', act: copy, isReady: editor.state.value.status === 'saved' }
      }
    >
      {checked.checks.length > 0 && <CheckList {...checked} />}
      <section>
        <h3>What changes</h3>
        <Changes before={editor.row.published?.campaign ?? null} after={campaign} />
      </section>
      <details class="more">
        <summary>Campaign as JSON</summary>
        <pre class="sunk code">{text}</pre>
      </details>
    </Dialog>
  );
};

interface PublishDialogProps {
  editor: Editor;
  onClose(): void;
  onPublished(): Promise<void>;
}

/** Confirms publishing, with the changes and the affected users. */
export const PublishDialog = ({ editor, onClose, onPublished }: PublishDialogProps) => {
  const note = useSignal('');
  const when = useSignal<'now' | 'later'>('now');
  const zone = signedIn().workspace.timeZone;
  const at = useSignal<string | null>(new Date(Date.now() + DAY_MS).toISOString());
  const stopIf = useSignal<'goal_below_control'[]>([]);
  const theirs = useSignal<ReleaseRow | null>(null);
  const { row } = editor;
  // Before a campaign is live, a new release usually replaces the scheduled one.
  const scheduled = useSignal<ScheduledChoice>(row.published ? 'keep' : 'cancel');
  const before = useSignal(editor.row.published?.campaign ?? null);
  const checked = useChecks(editor);
  const { campaign, checks, reach, visibility } = checked;
  const seen = useRef(editor.revision());
  const { value: state } = editor.state;
  const effect = useLoad(
    () => call<PublishImpact>('POST', '/api/publish-impact', { body: { campaign } }),
    editor.id,
  ).loaded;

  const publish = async () => {
    const liveAt = when.value === 'later' ? at.value : null;
    if (when.value === 'later' && (liveAt === null || Date.parse(liveAt) <= Date.now())) {
      document.getElementById('publish-at')?.focus();
      throw new ActionError('Choose a future date and time.');
    }
    try {
      const response = await call<PublishResponse>('POST', '/api/releases', {
        body: {
          campaign_id: editor.id,
          revision: editor.revision(),
          note: note.value,
          live_at: liveAt,
          ...(liveAt !== null && { stop_if: stopIf.value[0] ?? null }),
          ...scheduledIn(row, scheduled.value),
        },
      });
      announce(
        when.value === 'later'
          ? `Release ${response.release} goes live on ${wholeMoment(response.liveAt)}.`
          : `Release ${response.release} is live. Pages update at their next sync.`,
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) theirs.value = (error.body['theirs'] as ReleaseRow | null) ?? null;
      if (error.status !== 412) throw error;
      // Closes the dialog if another operator changed the draft, because the editor shows the conflict.
      onClose();
      announce(describeError(error));
      await editor.poll();
      return;
    }
    onClose();
    await onPublished();
  };

  const follow = async (release: ReleaseRow) => {
    await editor.follow(release.release);
    seen.current = editor.revision();
    before.value = release.campaign;
    theirs.value = null;
  };

  return (
    <Dialog
      title={`Publish “${getCampaignName(campaign)}”`}
      isWide
      onClose={onClose}
      action={
        editor.errors.value.length > 0 || theirs.value !== null
          ? null
          : {
              name: when.value === 'later' ? 'Schedule' : 'Publish now',
              act: publish,
              isReady: editor.state.value.status === 'saved',
            }
      }
    >
      {editor.errors.value.length === 0 && (
        <section class="sunk">
          <Reach loaded={reach} visibility={visibility} />
          <p>{describeAudience(campaign.audience, audienceName)}</p>
        </section>
      )}
      {state.status === 'conflict' && (
        <p class="field-problem" role="alert">
          This draft was changed, published or discarded. Close this dialog to see how.
        </p>
      )}
      {state.status === 'saved' && editor.revision() !== seen.current && (
        <p class="field-warning" role="alert">
          {describeEditor(editor.lastEditor())}. The differences include the change.
        </p>
      )}
      {theirs.value && (
        <TheirRelease theirs={theirs.value} mine={campaign} onReplace={(release) => void follow(release)} />
      )}
      {checks.length > 0 && <CheckList {...checked} />}
      <section>
        <h3>Impact</h3>
        {effect.state === 'ready' && <Effect effect={effect.value} />}
        {effect.state === 'failed' && <p class="field-problem">{effect.message}</p>}
      </section>
      <section>
        <h3>What changes</h3>
        {before.value ? (
          <Changes before={before.value} after={campaign} />
        ) : (
          <details class="more">
            <summary>First release: all fields</summary>
            <Changes before={null} after={campaign} />
          </details>
        )}
      </section>
      <ScheduledChoiceField
        row={row}
        choice={scheduled}
        liveAt={when.value === 'later' ? at.value : null}
        campaign={campaign}
      />
      <NoteField id="publish-note" label="Note for the history" note={note} />
      <div class="row">
        <Segments
          label="When"
          options={[
            { value: 'now', name: 'Now' },
            { value: 'later', name: 'At a time' },
          ]}
          chosen={when.value}
          onChoose={into(when)}
        />
        {when.value === 'later' && (
          <MomentField
            id="publish-at"
            label={`Date and time in ${zone}`}
            value={at.value}
            onChange={into(at)}
          />
        )}
      </div>
      {when.value === 'later' && canFallBelowControl(row.published?.campaign ?? null) && (
        <CheckBoxes
          options={[
            {
              value: 'goal_below_control',
              name: 'Stop the campaign instead if a goal falls below the control group',
            },
          ]}
          chosen={stopIf.value}
          onChoose={into(stopIf)}
        />
      )}
    </Dialog>
  );
};
