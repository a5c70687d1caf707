import { useSignal } from '@preact/signals';
import { announce } from '../parts/announce.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Changes } from './changes.tsx';
import { CheckList } from './check-list.tsx';
import type { Editor } from './editor-state.ts';

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
