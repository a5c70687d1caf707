import { useSignal } from '@preact/signals';
import { call } from '../call.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ago, moment } from '../parts/format.ts';
import { announce } from '../parts/problem.tsx';
import { go } from '../shell/address.tsx';
import { may, signedIn } from '../shell/session.ts';
import { Changes } from './changes.tsx';
import type { Editor, SaveState } from './editor-state.ts';

/** Two wrote the same draft: both are shown, and the operator says which goes on. */
export const ConflictBox = ({ editor, onDropped }: { editor: Editor; onDropped(): Promise<void> }) => {
  const theirs = editor.theirs.value;
  return (
    <section class="notice" role="alert" aria-labelledby="conflict-title">
      <h2 id="conflict-title">
        {theirs
          ? `${theirs.editor} changed this draft at ${moment(theirs.at)}`
          : 'This draft was published or discarded'}
      </h2>
      <p>
        {theirs
          ? 'What you have here is not what is stored any more. These are the differences, theirs first:'
          : 'Your last changes are not saved. Save them as a new draft, or go on with what is published.'}
      </p>
      {theirs && <Changes before={theirs.campaign} after={editor.campaign.value} />}
      <div class="notice-actions">
        <button
          type="button"
          class="button"
          onClick={() => {
            if (theirs) return editor.takeTheirs();
            editor.forget();
            return void onDropped();
          }}
        >
          {theirs ? 'Go on with theirs' : 'Drop mine'}
        </button>
        <button type="button" class="button primary" onClick={editor.keepMine}>
          {theirs ? 'Save mine over theirs' : 'Save mine'}
        </button>
      </div>
    </section>
  );
};

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

/** Whether the operator may publish, or in a workspace whose campaigns are in its file copy. */
const mayPublish = () => may(signedIn().workspace.campaignsFrom === 'file' ? 'edit' : 'publish');

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

/** The same in a line of its own: the bar stays in sight, and is low. */
export const WhyNotPublish = ({ editor }: { editor: Editor }) => {
  const words = mayPublish() ? whyNotPublish(editor) : null;
  return words === null ? null : <p class="campaign-why">{words}</p>;
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
  const close = () => {
    isDiscarding.value = false;
  };
  const discard = async () => {
    await editor.flush();
    const path = `/api/drafts/${encodeURIComponent(editor.id)}`;
    await call('DELETE', path, { ifMatch: editor.revision() });
    editor.forget();
    announce('The draft is gone.');
    close();
    if (row.published) await onDiscarded();
    else go('/');
  };
  const canPublish = mayPublish();
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
          onClose={close}
          closeName="Keep it"
          action={{ name: 'Discard', act: discard }}
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
