import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { audienceWords } from '../../campaign/audience-words.ts';
import { nameOf } from '../../campaign/campaign-text.ts';
import type { PublishedAnswer } from '../../server/add-release.ts';
import type { LiveEffect } from '../../server/live-effect.ts';
import type { ReleaseRow } from '../../server/routes/releases.ts';
import { ApiError, call, wordsOf } from '../call.ts';
import { announce } from '../parts/announce.tsx';
import { wholeMoment } from '../parts/dates.ts';
import { Dialog } from '../parts/dialog.tsx';
import { MomentInput } from '../parts/moment-input.tsx';
import { NoteField } from '../parts/note-field.tsx';
import { Segments } from '../parts/segments.tsx';
import { signedIn } from '../shell/session.ts';
import { Changes } from './changes.tsx';
import { CheckList } from './check-list.tsx';
import type { Editor } from './editor-state.ts';
import { Effect } from './effect.tsx';
import { Reach } from './reach.tsx';
import { TheirRelease } from './their-release.tsx';
import './publish.css';

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
