import { useSignal } from '@preact/signals';
import { nameOf } from '../../campaign/campaign-text.ts';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import { call, wordsOf } from '../call.ts';
import { announce } from '../parts/announce.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { NoteField } from '../parts/note-field.tsx';

interface StopDialogProps {
  row: CampaignRow;
  onClose(): void;
  onStopped(): Promise<void>;
}

/** Takes a campaign off the pages, after asking. */
export const StopDialog = ({ row, onClose, onStopped }: StopDialogProps) => {
  const note = useSignal('');
  const problem = useSignal<string | null>(null);
  const name = nameOf(row.published!.campaign);
  const stop = async () => {
    try {
      const path = `/api/campaigns/${encodeURIComponent(row.id)}/stop`;
      await call('POST', path, { body: { note: note.value, based_on: row.newest } });
      announce(`${name} is stopped. Pages that show it drop it at their next sync.`);
      onClose();
      await onStopped();
    } catch (error) {
      problem.value = wordsOf(error);
    }
  };
  return (
    <Dialog
      title={`Stop “${name}”?`}
      onClose={onClose}
      closeName="Leave it live"
      actions={
        <button type="button" class="button primary" onClick={() => void stop()}>
          Stop it now
        </button>
      }
    >
      <p>Nobody gets it any more. Its results stay, and History brings it back.</p>
      <NoteField id="stop-note" label="Why (for the history)" note={note} />
      <p class="field-problem" role="alert">
        {problem.value}
      </p>
    </Dialog>
  );
};
