import type { Editor } from './editor-state.ts';
import { Field } from './field.tsx';

/** People who see it whatever the rules say. */
export const TestUsers = ({ editor }: { editor: Editor }) => {
  const users = editor.campaign.value.test_users ?? [];
  return (
    <Field
      id="test_users"
      label="Test users"
      help="External IDs, separated by commas. They see it whatever its state, time and audience are, and count in no result."
    >
      <input
        id="test_users"
        defaultValue={users.join(', ')}
        autoComplete="off"
        aria-describedby="test_users-help"
        onChange={(event) => {
          const ids = event.currentTarget.value
            .split(',')
            .map((id) => id.trim())
            .filter((id) => id !== '');
          editor.change(({ test_users: _, ...rest }) =>
            ids.length > 0 ? { ...rest, test_users: ids } : rest,
          );
        }}
      />
    </Field>
  );
};
