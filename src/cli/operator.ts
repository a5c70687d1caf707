import { defineCommand } from 'citty';
import { ROLES, type Role } from '../protocol/index.ts';
import { newOperatorKey } from '../studio/index.ts';

const options = {
  action: { type: 'positional', description: 'create', required: true },
  name: { type: 'string', description: 'Name in the history and audit log', valueHint: 'Mia' },
  role: { type: 'string', description: `Role: ${ROLES.join(', ')}`, valueHint: 'edit' },
  'view-users': { type: 'boolean', description: 'Allow viewing individual users, not only personas' },
} as const;

const isRole = (text: string | undefined): text is Role => ROLES.some((role) => role === text);

/** `placard operator create`: creates a Studio key and prints it once, with the line for the workspace file. */
export const operator = defineCommand({
  meta: { name: 'operator', description: 'Create a key for the Studio.' },
  args: options,
  run: ({ args }) => {
    const { action, name, role, 'view-users': canViewUsers } = args;
    if (action !== 'create') throw new Error(`specify "placard operator create", got "operator ${action}"`);
    if (!name?.trim()) throw new Error('specify --name, such as --name Mia');
    if (!isRole(role)) throw new Error(`specify --role as one of ${ROLES.join(', ')}`);
    const { key, sha256 } = newOperatorKey();
    const line = {
      name: name.trim(),
      role,
      ...(canViewUsers && { can_view_users: true }),
      key_sha256: sha256,
    };
    process.stdout.write(
      `Key of ${line.name}, shown only once:\n\n  ${key}\n\n` +
        `Add this to "operators" in the workspace file:\n\n  ${JSON.stringify(line)}\n`,
    );
  },
});
