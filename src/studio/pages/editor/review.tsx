import { useSignal } from '@preact/signals';
import type { ReviewEntry } from '../../../service/index.ts';
import { lastDecision } from '../../campaign/review.ts';
import type { ReviewResponse } from '../../server/routes/review.ts';
import { call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { Dialog, DialogButton, NoteField } from '../components/dialog.tsx';
import { wholeMoment } from '../components/format.ts';
import { useAction } from '../components/loading.tsx';
import { announce } from '../components/notices.tsx';
import { hasRole, signedIn } from '../shell/session.ts';
import type { Editor } from './editor-state.ts';

/** Labels of review actions. */
const DONE: Record<ReviewEntry['action'], string> = {
  request: 'Approval requested',
  comment: 'Comment added',
  approve: 'Approved',
  send_back: 'Sent back',
};

const ReviewDialog = ({ editor, onClose }: { editor: Editor; onClose(): void }) => {
  const note = useSignal('');
  const canDecide = hasRole('publish') && editor.lastEditor() !== signedIn().operator.name;
  const send = async (action: ReviewEntry['action']) => {
    await editor.flush();
    const { review } = await call<ReviewResponse>(
      'POST',
      `/api/drafts/${encodeURIComponent(editor.id)}/review`,
      {
        body: { action, note: note.value, revision: editor.revision() },
      },
    );
    editor.review.value = review;
    announce(`${DONE[action]}.`);
    onClose();
  };
  const { problem, run } = useAction(send);
  return (
    <Dialog
      title={canDecide ? 'Review draft' : 'Request approval'}
      onClose={onClose}
      isChanged={note.value !== ''}
      more={
        <>
          <Button onClick={() => void run('comment')}>Comment</Button>
          {canDecide && <Button onClick={() => void run('send_back')}>Send back</Button>}
        </>
      }
      action={
        canDecide
          ? { name: 'Approve', act: () => send('approve') }
          : { name: 'Request approval', act: () => send('request') }
      }
    >
      {editor.review.value.length > 0 && (
        <ol class="stack" aria-label="Review">
          {editor.review.value.map(({ operator, at, action, note: said }) => (
            <li key={at}>
              <p class="muted">
                {DONE[action]} by <bdi>{operator}</bdi>, {wholeMoment(at)}
              </p>
              {said && <p dir="auto">{said}</p>}
            </li>
          ))}
        </ol>
      )}
      <NoteField id="review-note" label="Comment" note={note} />
      <p class="field-problem" role="alert">
        {problem.value}
      </p>
    </Dialog>
  );
};

/** Button that opens the review of a draft and shows its status. */
export const Review = ({ editor }: { editor: Editor }) => {
  const { operator, workspace } = signedIn();
  const review = editor.review.value;
  const isNeeded = workspace.requireApproval || !hasRole('publish') || review.length > 0;
  if (editor.isReadOnly || !editor.isDraft.value || workspace.campaignsFrom === 'file' || !isNeeded)
    return null;
  const canDecide = hasRole('publish') && editor.lastEditor() !== operator.name;
  const decision = lastDecision(review);
  const isOutdated = decision?.action === 'approve' && decision.revision !== editor.revision();
  return (
    <>
      {decision && <span class="tag">{isOutdated ? 'Changed since approval' : DONE[decision.action]}</span>}
      <DialogButton look="quiet" name={canDecide || review.length > 0 ? 'Review…' : 'Request approval…'}>
        {(close) => <ReviewDialog editor={editor} onClose={close} />}
      </DialogButton>
    </>
  );
};
