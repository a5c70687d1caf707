import { useSignal } from '@preact/signals';
import { ROLES } from '../../../protocol/index.ts';
import type { AccessResponse } from '../../server/routes/access.ts';
import { call } from '../call.ts';
import { Button, CheckBoxes, into } from '../components/controls.tsx';
import { DataTable } from '../components/data-table.tsx';
import { copyText, Dialog, DialogButton } from '../components/dialog.tsx';
import { Field, KeyField, SelectField, TextField } from '../components/fields.tsx';
import { wholeMoment } from '../components/format.ts';
import { announceResult } from '../components/notices.tsx';
import { signedIn } from '../shell/session.ts';

const ROLE_TEXTS: Readonly<Record<(typeof ROLES)[number], string>> = {
  view: 'View only',
  edit: 'Edit drafts',
  publish: 'Publish and roll back',
  admin: 'Full access',
};

interface OperatorsProps {
  operators: AccessResponse['operators'];
  again(): Promise<void>;
}

const InviteDialog = ({ onClose, again }: { onClose(): void; again(): Promise<void> }) => {
  const name = useSignal('');
  const role = useSignal<(typeof ROLES)[number]>('edit');
  const rights = useSignal<'users'[]>([]);
  const key = useSignal('');
  const invited = useSignal<{ link: string; expiresAt: string } | null>(null);
  const invite = async () => {
    const { token, expiresAt } = await call<{ token: string; expiresAt: string }>('POST', '/api/operators', {
      body: {
        name: name.value,
        role: role.value,
        can_view_users: rights.value.length > 0,
        key: key.value,
      },
    });
    invited.value = { link: `${location.origin}/invitation#${token}`, expiresAt };
    await again();
  };
  const copy = async () => {
    await copyText(invited.value!.link, 'select the link and copy it');
    return 'Link copied.';
  };
  if (invited.value) {
    return (
      <Dialog
        title={`Invitation for ${name.value}`}
        onClose={onClose}
        closeName="Close"
        action={{ name: 'Copy link', act: copy }}
      >
        <Field
          id="invite-link"
          label="Link"
          help={`Works once, until ${wholeMoment(invited.value.expiresAt)}. Send it over a private channel.`}
        >
          <input id="invite-link" readOnly value={invited.value.link} />
        </Field>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Invite an operator"
      onClose={onClose}
      action={{ name: 'Create link', act: invite, isReady: name.value.trim() !== '' && key.value !== '' }}
    >
      <TextField
        id="invite-name"
        label="Name"
        dir="auto"
        maxLength={80}
        value={name.value}
        onType={into(name)}
      />
      <SelectField
        id="invite-role"
        label="Role"
        options={ROLES.map((value) => ({ value, name: `${value} – ${ROLE_TEXTS[value]}` }))}
        value={role.value}
        onChoose={into(role)}
      />
      {signedIn().operator.canViewUsers && (
        <CheckBoxes
          options={[{ value: 'users', name: 'Can view users' }]}
          chosen={rights.value}
          onChoose={into(rights)}
        />
      )}
      <KeyField
        id="invite-key"
        label="Your operator key"
        help="Confirms that it is you."
        value={key.value}
        onType={into(key)}
      />
    </Dialog>
  );
};

/** Operators of the workspace file and invited ones. */
export const Operators = ({ operators, again }: OperatorsProps) => {
  const remove = (name: string) =>
    announceResult(async () => {
      await call('DELETE', `/api/operators/${encodeURIComponent(name)}`);
      await again();
      return `${name} is removed.`;
    });
  return (
    <section class="panel">
      <div class="row apart">
        <h2>Operators</h2>
        <DialogButton name="Invite…">
          {(close) => <InviteDialog onClose={close} again={again} />}
        </DialogButton>
      </div>
      <p class="muted">Operators of the workspace file are changed there.</p>
      <DataTable
        label="Operators"
        rows={operators}
        getRowKey={({ name }) => name}
        columns={[
          { name: 'Operator', kind: 'head', cell: ({ name }) => name },
          { name: 'Role', cell: ({ role }) => `${role} – ${ROLE_TEXTS[role]}` },
          {
            name: 'Users',
            cell: ({ canViewUsers }) => (canViewUsers ? 'Can view users' : 'Personas only'),
          },
          {
            name: 'Source',
            cell: ({ invitedBy, linkExpiresAt }) => {
              if (invitedBy === null) return 'Workspace file';
              return linkExpiresAt === null
                ? `Invited by ${invitedBy}`
                : `Invited by ${invitedBy}, not accepted yet. The link expires on ${wholeMoment(linkExpiresAt)}.`;
            },
          },
          {
            name: 'Action',
            cell: ({ name, invitedBy }) =>
              invitedBy !== null && (
                <Button look="quiet danger" aria-label={`Remove ${name}`} onClick={() => void remove(name)}>
                  Remove
                </Button>
              ),
          },
        ]}
      />
    </section>
  );
};
