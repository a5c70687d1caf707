import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { audienceWords } from '../../campaign/audience-words.ts';
import { type CampaignText, nameOf } from '../../campaign/campaign-text.ts';
import type { PublishedAnswer } from '../../server/add-release.ts';
import type { LiveEffect } from '../../server/live-effect.ts';
import type { ReleaseRow } from '../../server/routes/releases.ts';
import { ApiError, call, wordsOf } from '../call.ts';
import { Dialog, NoteField } from '../parts/dialog.tsx';
import { MomentInput, Segments } from '../parts/fields.tsx';
import { wholeMoment } from '../parts/format.ts';
import { announce } from '../parts/problem.tsx';
import { signedIn } from '../shell/session.ts';
import { Reach } from './audience.tsx';
import { Changes } from './changes.tsx';
import { CheckList } from './edit-tab.tsx';
import type { Editor } from './editor-state.ts';
import './blocks.css';

const names = (campaigns: readonly string[]) => campaigns.map((name) => `“${name}”`).join(', ');

/** Which campaigns it comes before and after, placement by placement. */
export const Effect = ({ effect }: { effect: LiveEffect }) => (
  <ul class="effect">
    {effect.placements.map(({ id, name, before, after }) => (
      <li key={id}>
        <b>{name}</b>:{' '}
        {before.length === 0 && after.length === 0
          ? 'no other campaign runs there now.'
          : [
              before.length > 0 ? `wins over ${names(before)} for everybody in its audience` : '',
              after.length > 0 ? `waits behind ${names(after)} for people in their audiences` : '',
            ]
              .filter((words) => words !== '')
              .join('; ')
              .concat('.')}
      </li>
    ))}
  </ul>
);

interface TheirReleaseProps {
  theirs: ReleaseRow;
  mine: CampaignText;
  onReplace(release: ReleaseRow): void;
}

/** A release that came while this one was written, and what publishing would undo of it. */
export const TheirRelease = ({ theirs, mine, onReplace }: TheirReleaseProps) => (
  <section class="notice" role="alert">
    <h3>
      {theirs.author} published release {theirs.release} on {wholeMoment(theirs.at)}
    </h3>
    <p>Yours began from an older one, and publishing it would undo what is theirs alone:</p>
    <Changes before={theirs.campaign} after={mine} />
    <div class="notice-actions">
      <button type="button" class="button" onClick={() => onReplace(theirs)}>
        Mine is meant to replace it
      </button>
    </div>
  </section>
);

/** Where the workspace file is the truth: what to put into it, and what that changes. */
export const CopyDialog = ({ editor, onClose }: { editor: Editor; onClose(): void }) => {
  const problem = useSignal<string | null>(null);
  const campaign = editor.campaign.value;
  const text = JSON.stringify(campaign, null, 2);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce('Copied. Put it into the workspace file in the place of the campaign with this ID.');
      onClose();
    } catch {
      problem.value = 'The browser does not let the Studio copy: select the text above and copy it.';
    }
  };
  return (
    <Dialog
      title="Copy for the workspace file"
      isWide
      onClose={onClose}
      closeName="Not yet"
      actions={
        editor.errors.value.length === 0 && (
          <button
            type="button"
            class="button primary"
            disabled={editor.state.value !== 'saved'}
            onClick={() => void copy()}
          >
            Copy the JSON
          </button>
        )
      }
    >
      {editor.checks.value.length > 0 && <CheckList checks={editor.checks.value} campaign={campaign} />}
      <section>
        <h3>What changes</h3>
        <Changes before={editor.row.published?.campaign ?? null} after={campaign} />
      </section>
      <details class="more">
        <summary>The campaign as JSON</summary>
        <pre class="code">{text}</pre>
      </details>
      <p class="field-problem" role="alert">
        {problem.value}
      </p>
    </Dialog>
  );
};

const DAY_MS = 86_400_000;

interface PublishDialogProps {
  editor: Editor;
  onClose(): void;
  onPublished(): Promise<void>;
}

/** What would change, for whom, and the last question before it does. */
export const PublishDialog = ({ editor, onClose, onPublished }: PublishDialogProps) => {
  const note = useSignal('');
  const when = useSignal<'now' | 'later'>('now');
  const zone = signedIn().workspace.timeZone;
  const at = useSignal<string | null>(new Date(Date.now() + DAY_MS).toISOString());
  const problem = useSignal<string | null>(null);
  const theirs = useSignal<ReleaseRow | null>(null);
  const before = useSignal(editor.row.published?.campaign ?? null);
  const effect = useSignal<LiveEffect | null>(null);
  const isBusy = useSignal(false);
  const campaign = editor.campaign.value;
  const errors = editor.errors.value;

  useEffect(() => {
    call<LiveEffect>('POST', '/api/effect', { body: { campaign: editor.campaign.value } }).then(
      (answer) => {
        effect.value = answer;
      },
      (error) => {
        problem.value = wordsOf(error);
      },
    );
  }, [editor, effect, problem]);

  const publish = async () => {
    const liveAt = when.value === 'later' ? at.value : null;
    if (when.value === 'later' && (liveAt === null || Date.parse(liveAt) <= Date.now())) {
      problem.value = 'Choose a date and a time that are still to come.';
      document.getElementById('publish-at')?.focus();
      return;
    }
    isBusy.value = true;
    try {
      const answer = await call<PublishedAnswer>('POST', '/api/releases', {
        body: { campaign_id: editor.id, revision: editor.revision(), note: note.value, live_at: liveAt },
      });
      announce(
        when.value === 'later'
          ? `Release ${answer.release} goes live on ${wholeMoment(answer.liveAt)}.`
          : `Release ${answer.release} is live. Pages show it from their next sync on.`,
      );
      onClose();
      await onPublished();
    } catch (error) {
      problem.value = wordsOf(error);
      if (error instanceof ApiError && error.status === 409) {
        theirs.value = (error.body['theirs'] as ReleaseRow | null) ?? null;
      }
    } finally {
      isBusy.value = false;
    }
  };

  // It is not disabled meanwhile, which would lose the focus.
  const canPublish = !isBusy.value && editor.state.value === 'saved';

  const follow = async (release: ReleaseRow) => {
    await editor.follow(release.release);
    before.value = release.campaign;
    theirs.value = null;
    problem.value = null;
  };

  return (
    <Dialog
      title={`Publish “${nameOf(campaign)}”`}
      isWide
      onClose={onClose}
      closeName="Not yet"
      actions={
        errors.length === 0 &&
        theirs.value === null && (
          <button
            type="button"
            class="button primary"
            aria-disabled={!canPublish}
            onClick={() => void (canPublish && publish())}
          >
            {when.value === 'later' ? 'Publish then' : 'Publish now'}
          </button>
        )
      }
    >
      {editor.checks.value.length > 0 && <CheckList checks={editor.checks.value} campaign={campaign} />}
      {theirs.value && (
        <TheirRelease theirs={theirs.value} mine={campaign} onReplace={(release) => void follow(release)} />
      )}
      <section>
        <h3>Who gets it</h3>
        <p>{audienceWords(campaign.audience)}</p>
        <Reach campaign={campaign} />
        {effect.value && <Effect effect={effect.value} />}
      </section>
      <section>
        <h3>What changes</h3>
        {before.value ? (
          <Changes before={before.value} after={campaign} />
        ) : (
          <details class="more">
            <summary>It is published for the first time: all that it says</summary>
            <Changes before={null} after={campaign} />
          </details>
        )}
      </section>
      <NoteField id="publish-note" label="Note for the history" note={note} />
      <div class="publish-when">
        <Segments
          label="When"
          options={[
            { value: 'now', name: 'Now' },
            { value: 'later', name: 'At a time' },
          ]}
          chosen={when.value}
          onChoose={(value) => {
            when.value = value;
          }}
        />
        {when.value === 'later' && (
          <div class="field">
            <label for="publish-at">{`Date and time in ${zone}`}</label>
            <MomentInput
              id="publish-at"
              value={at.value}
              onChange={(moment) => {
                at.value = moment;
              }}
            />
          </div>
        )}
      </div>
      <p class="field-problem" role="alert">
        {problem.value}
      </p>
    </Dialog>
  );
};
