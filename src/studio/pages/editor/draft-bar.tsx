import { useSignal } from '@preact/signals';
import { call, wordsOf } from '../call.ts';
import { announce } from '../parts/announce.tsx';
import { ago } from '../parts/dates.ts';
import { Dialog } from '../parts/dialog.tsx';
import { go } from '../shell/address.tsx';
import { may, signedIn } from '../shell/session.ts';
import type { Editor, SaveState } from './editor-state.ts';
import { forgetUnsaved } from './unsaved.ts';

interface DraftBarProps {
  editor: Editor;
  onPublish(): Promise<void>;
  onDiscarded(): Promise<void>;
}

const SAVING: Record<SaveState, string> = {
  saved: '',
  waiting: 'Saving …',
  saving: 'Saving …',
  failed: 'Not saved',
  conflict: 'Not saved',
};

const stateWords = ({ row, isDraft, state, revision }: Editor): string => {
  if (SAVING[state.value] !== '') return SAVING[state.value];
  if (!isDraft.value) return row.published ? 'As published' : '';
  const isAsFound = row.draft?.revision === revision();
  return isAsFound ? `Draft, saved by ${row.draft!.editor} ${ago(row.draft!.at)}` : 'Draft saved';
};

/** Why the draft cannot be published from here though the operator may publish; `null` where it can. */
const whyNotPublish = ({ row, isDraft, revision }: Editor): string | null => {
  const { operator, workspace } = signedIn();
  if (workspace.campaignsFrom === 'file') {
    return 'Campaigns of this workspace are in its file: copy the change into it. With "campaigns_from": "studio" in the file they are published here.';
  }
  const isMine = row.draft?.revision !== revision() || row.draft.editor === operator.name;
  if (!workspace.secondOperator || !isDraft.value || !isMine) return null;
  return 'You changed this draft last, so somebody else has to publish it.';
};

/** It keeps the focus with the last step: a disabled button would lose it. */
const StepButton = (props: { name: string; isPossible: boolean; onClick(): void }) => (
  <button type="button" class="button quiet" aria-disabled={!props.isPossible} onClick={props.onClick}>
    {props.name}
  </button>
);

/** What state the draft is in, and what can be done with it. */
export const DraftBar = ({ editor, onPublish, onDiscarded }: DraftBarProps) => {
  const isDiscarding = useSignal(false);
  const { state, isDraft, problem, errors, row } = editor;
  const isFile = signedIn().workspace.campaignsFrom === 'file';
  const discard = async () => {
    try {
      await editor.flush();
      const path = `/api/drafts/${encodeURIComponent(editor.id)}`;
      await call('DELETE', path, { ifMatch: editor.revision() });
      forgetUnsaved(editor.id);
      announce('The draft is gone.');
      if (row.published) await onDiscarded();
      else go('/');
    } catch (error) {
      announce(wordsOf(error));
    }
  };
  const canPublish = isFile ? may('edit') : may('publish');
  const whyNot = canPublish ? whyNotPublish(editor) : null;
  return (
    <div class="draft-bar">
      <p class="draft-state" data-state={state.value}>
        {stateWords(editor)}
        {problem.value && state.value === 'failed' && (
          <>
            : {problem.value}{' '}
            <button type="button" class="link" onClick={() => void editor.save()}>
              Try again
            </button>
          </>
        )}
      </p>
      {whyNot && <p class="draft-state">{whyNot}</p>}
      {!editor.isReadOnly && (
        <div class="draft-buttons">
          <StepButton name="Undo" isPossible={editor.canUndo.value} onClick={editor.undo} />
          <StepButton name="Redo" isPossible={editor.canRedo.value} onClick={editor.redo} />
          {isDraft.value && (
            <button
              type="button"
              class="button quiet"
              onClick={() => {
                isDiscarding.value = true;
              }}
            >
              Discard
            </button>
          )}
          {canPublish && (isFile || whyNot === null) && (
            <button
              type="button"
              class="button primary"
              disabled={!isDraft.value && state.value === 'saved'}
              aria-describedby={errors.value.length > 0 ? 'checks-title' : undefined}
              onClick={() => void onPublish()}
            >
              {isFile ? 'Copy …' : 'Publish …'}
            </button>
          )}
        </div>
      )}
      {isDiscarding.value && (
        <Dialog
          title="Discard the draft?"
          onClose={() => {
            isDiscarding.value = false;
          }}
          closeName="Keep it"
          actions={
            <button
              type="button"
              class="button primary"
              onClick={() => {
                isDiscarding.value = false;
                void discard();
              }}
            >
              Discard
            </button>
          }
        >
          <p>
            {row.published
              ? 'What is published stays as it is. The changes of this draft are gone for everybody.'
              : 'This campaign was never published: nothing of it stays.'}
          </p>
        </Dialog>
      )}
    </div>
  );
};
