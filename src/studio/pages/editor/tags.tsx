import { signedIn } from '../shell/session.ts';
import type { Editor } from './editor-state.ts';
import { checksAt } from './field.tsx';
import { ListField } from './list-field.tsx';

const capWords = (caps: readonly { tag: string; campaignsPerDay: number }[]): string =>
  caps.length === 0
    ? 'The workspace limits no tag.'
    : `One person gets a day at most: ${caps.map(({ tag, campaignsPerDay }) => `${campaignsPerDay} of “${tag}”`).join(', ')}.`;

/** Names by which the workspace limits campaigns together. */
export const Tags = ({ editor }: { editor: Editor }) => (
  <ListField
    id="tags"
    label="Tags"
    help={`Names, separated by commas. ${capWords(signedIn().workspace.tagCaps)}`}
    checks={checksAt(editor.checks.value, 'tags')}
    values={editor.campaign.value.tags ?? []}
    onChange={(tags) => editor.change(({ tags: _, ...rest }) => (tags.length > 0 ? { ...rest, tags } : rest))}
  />
);
