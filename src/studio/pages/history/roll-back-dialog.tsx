import { useSignal } from '@preact/signals';
import type { PublishedAnswer } from '../../server/add-release.ts';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { ReleaseRow } from '../../server/routes/releases.ts';
import { call, wordsOf } from '../call.ts';
import { Changes } from '../editor/changes.tsx';
import { announce } from '../parts/announce.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { NoteField } from '../parts/note-field.tsx';

/** Publishes a former release again, after showing what that would change. */
export const RollBackDialog = ({
  row,
  release,
  onClose,
  onDone,
}: {
  row: CampaignRow;
  release: ReleaseRow;
  onClose(): void;
  onDone(): Promise<void>;
}) => {
  const note = useSignal(`Back to release ${release.release}`);
  const problem = useSignal<string | null>(null);
  const rollBack = async () => {
    try {
      const answer = await call<PublishedAnswer>('POST', `/api/releases/${release.release}/restore`, {
        body: { note: note.value, based_on: row.newest },
      });
      announce(`Release ${answer.release} is live: it is release ${release.release} again.`);
      onClose();
      await onDone();
    } catch (error) {
      problem.value = wordsOf(error);
    }
  };
  return (
    <Dialog
      title={`Go back to release ${release.release}?`}
      isWide
      onClose={onClose}
      closeName="Not now"
      actions={
        <button type="button" class="button primary" onClick={() => void rollBack()}>
          Publish it again
        </button>
      }
    >
      <p>This makes a new release. What is published now, then what it would be:</p>
      <Changes before={row.published?.campaign ?? null} after={release.campaign} />
      <NoteField id="roll-back-note" label="Note for the history" note={note} />
      <p class="field-problem" role="alert">
        {problem.value}
      </p>
    </Dialog>
  );
};
