import type { Editor } from './editor-state.ts';
import { checksAt } from './field.tsx';
import { ListField } from './list-field.tsx';

/** People who see it whatever the rules say. */
export const TestUsers = ({ editor }: { editor: Editor }) => (
  <ListField
    id="test_users"
    label="Test users"
    help="External IDs, separated by commas. They see it whatever its state, time and audience are, and count in no result."
    checks={checksAt(editor.checks.value, 'test_users')}
    values={editor.campaign.value.test_users ?? []}
    onChange={(users) =>
      editor.change(({ test_users: _, ...rest }) =>
        users.length > 0 ? { ...rest, test_users: users } : rest,
      )
    }
  />
);
