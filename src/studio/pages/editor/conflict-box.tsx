import { moment } from '../parts/dates.ts';
import { Changes } from './changes.tsx';
import type { Editor } from './editor-state.ts';

/** Two wrote the same draft: both are shown, and the operator says which goes on. */
export const ConflictBox = ({ editor }: { editor: Editor }) => {
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
        <button type="button" class="button" onClick={editor.takeTheirs}>
          {theirs ? 'Go on with theirs' : 'Drop mine'}
        </button>
        <button type="button" class="button primary" onClick={editor.keepMine}>
          {theirs ? 'Save mine over theirs' : 'Save mine'}
        </button>
      </div>
    </section>
  );
};
