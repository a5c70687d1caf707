import { isApproved } from '../../campaign/review.ts';
import { call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { ago, moment } from '../components/format.ts';
import { announce } from '../components/notices.tsx';
import { navigate } from '../shell/router.tsx';
import { hasRole, signedIn } from '../shell/session.ts';
import { Changes } from './changes.tsx';
import { describeEditor, type Editor, type SaveState } from './editor-state.ts';
import { Review } from './review.tsx';

/** Conflict of two operators in a draft, with a choice between their versions. */
export const ConflictBox = ({ editor, onDropped }: { editor: Editor; onDropped(): Promise<void> }) => {
  const { value: state } = editor.state;
  if (state.status !== 'conflict') return null;
  const { theirs } = state;
  return (
    <section class="panel notice" role="alert" aria-labelledby="conflict-title">
      <h2 id="conflict-title">
        {theirs
          ? `${describeEditor(theirs.editor)} at ${moment(theirs.at)}`
          : 'This draft was published or discarded'}
      </h2>
      <p>
        {theirs
          ? 'Your last changes are not saved. Differences, the saved version first:'
          : 'Your last changes are not saved. Save them as a new draft, or discard them.'}
      </p>
      {theirs && <Changes before={theirs.campaign} after={editor.campaign.value} />}
      <div class="row notice-actions">
        <Button
          onClick={() => {
            if (theirs) return editor.takeTheirs();
            editor.forget();
            return void onDropped();
          }}
        >
          {theirs ? 'Use saved version' : 'Discard mine'}
        </Button>
        <Button look="primary" onClick={editor.keepMine}>
          {theirs ? 'Keep mine' : 'Save mine'}
        </Button>
      </div>
    </section>
  );
};

interface DraftBarProps {
  editor: Editor;
  onPublish(): Promise<void>;
  onDiscarded(): Promise<void>;
}

const SAVING: Record<SaveState['status'], string> = {
  saved: '',
  waiting: 'Saving…',
  saving: 'Saving…',
  failed: 'Unsaved changes',
  conflict: 'Unsaved changes',
};

const describeState = ({ row, isDraft, state, revision }: Editor): string => {
  const saving = SAVING[state.value.status];
  if (saving !== '') return saving;
  if (!isDraft.value) return row.published ? 'Published' : 'Scheduled';
  const isAsFound = row.draft?.revision === revision();
  return isAsFound ? `Draft, saved by ${row.draft!.editor} ${ago(row.draft!.at)}` : 'Draft saved';
};

/** Returns whether the operator can publish, or copy the JSON if campaigns are managed in the workspace file. */
const mayPublish = () => hasRole(signedIn().workspace.campaignsFrom === 'file' ? 'edit' : 'publish');

/** Returns the reason that the draft cannot be published despite the operator's role; `null` if it can be published. */
const getPublishBlocker = ({ isDraft, lastEditor, revision, review }: Editor): string | null => {
  const { operator, workspace } = signedIn();
  if (workspace.campaignsFrom === 'file') {
    return 'Campaigns are managed in the workspace file: copy the change into it. To publish here, set "campaigns_from": "studio" in the file.';
  }
  if (!workspace.requireApproval || !isDraft.value || lastEditor() !== operator.name) return null;
  if (isApproved({ revision: revision(), editor: lastEditor(), review: review.value })) return null;
  return 'Another operator must publish your changes.';
};

/** Row with the reason that the draft cannot be published. A separate row keeps the sticky bar low. */
export const PublishBlocker = ({ editor }: { editor: Editor }) => {
  const reason = mayPublish() ? getPublishBlocker(editor) : null;
  return reason === null ? null : <p class="campaign-why">{reason}</p>;
};

/** Status and actions of the draft. */
export const DraftBar = ({ editor, onPublish, onDiscarded }: DraftBarProps) => {
  const { isDraft, errors, row } = editor;
  const { value: state } = editor.state;
  const isFile = signedIn().workspace.campaignsFrom === 'file';
  const discard = async () => {
    await editor.flush();
    const path = `/api/drafts/${encodeURIComponent(editor.id)}`;
    await call('DELETE', path, { ifMatch: editor.revision() });
    editor.forget();
    announce('Draft discarded.');
    if (row.published || row.scheduled.length > 0) await onDiscarded();
    else navigate('/');
  };
  const canPublish = mayPublish();
  const blocker = canPublish ? getPublishBlocker(editor) : null;
  return (
    <div class="row draft-bar">
      <p class="draft-state" data-state={state.status}>
        {describeState(editor)}
        {state.status === 'failed' && (
          <>
            : {state.message}{' '}
            <Button look="link" onClick={() => void editor.save()}>
              Try again
            </Button>
          </>
        )}
      </p>
      {!editor.isReadOnly && (
        <div class="row draft-buttons">
          {/* `aria-disabled`, because a disabled button loses the focus after the last step. */}
          <Button look="quiet" aria-disabled={!editor.canUndo.value} onClick={editor.undo}>
            Undo
          </Button>
          <Button look="quiet" aria-disabled={!editor.canRedo.value} onClick={editor.redo}>
            Redo
          </Button>
          {isDraft.value && (
            <DialogButton look="quiet" name="Discard">
              {(close) => (
                <Dialog title="Discard draft?" onClose={close} action={{ name: 'Discard', act: discard }}>
                  <p>
                    {row.published || row.scheduled.length > 0
                      ? 'The published and scheduled versions stay. Draft changes are lost for everyone.'
                      : 'This campaign was never published. It is deleted for everyone.'}
                  </p>
                </Dialog>
              )}
            </DialogButton>
          )}
          <Review editor={editor} />
          {canPublish && (isFile || blocker === null) && (
            <Button
              look="primary"
              disabled={!isDraft.value && state.status === 'saved'}
              aria-describedby={errors.value.length > 0 ? 'checks-title' : undefined}
              onClick={() => void onPublish()}
            >
              {isFile ? 'Copy…' : 'Publish…'}
            </Button>
          )}
        </div>
      )}
    </div>
  );
};
