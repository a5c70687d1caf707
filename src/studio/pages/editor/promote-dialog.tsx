import { useSignal } from '@preact/signals';
import type { PromoteResponse } from '../../server/routes/promote.ts';
import { call } from '../call.ts';
import { into } from '../components/controls.tsx';
import { Dialog } from '../components/dialog.tsx';
import { KeyField, SelectField } from '../components/fields.tsx';
import { announce } from '../components/notices.tsx';
import { signedIn } from '../shell/session.ts';
import { Changes } from './changes.tsx';

/** Dialog that compares a campaign with another Studio, and copies it there as a draft. */
export const PromoteDialog = ({ id, onClose }: { id: string; onClose(): void }) => {
  const { environments } = signedIn().workspace;
  const environment = useSignal(environments[0]!);
  const key = useSignal('');
  const compared = useSignal<PromoteResponse | null>(null);
  const isDone = useSignal(false);
  const { value: found } = compared;
  const send = async () => {
    const response = await call<PromoteResponse>('POST', `/api/campaigns/${encodeURIComponent(id)}/promote`, {
      body: { environment: environment.value, key: key.value, ...(found && { seen: found.seen }) },
    });
    if (found) {
      isDone.value = true;
      announce(`Copied to ${environment.value} as a draft.`);
    } else compared.value = response;
  };
  return (
    <Dialog
      title="Copy to another environment"
      isWide
      onClose={onClose}
      closeName={isDone.value ? 'Close' : 'Cancel'}
      action={
        isDone.value
          ? null
          : {
              name: found ? `Copy to ${environment.value}` : 'Compare',
              act: send,
              isReady: key.value.trim() !== '',
            }
      }
    >
      {isDone.value ? (
        <p>
          The draft is in {environment.value}.{' '}
          <a href={found!.url} target="_blank" rel="noreferrer">
            Check and publish it there
          </a>
        </p>
      ) : found ? (
        <section>
          <h3>{found.before ? `Changes in ${environment.value}` : `New in ${environment.value}`}</h3>
          {found.seen.revision !== null && (
            <p class="field-warning">The campaign has a draft there. The copy replaces it.</p>
          )}
          <Changes before={found.before} after={found.campaign} />
        </section>
      ) : (
        <>
          <p>
            Copies the published version or, if none, the draft. The other Studio checks it; nothing goes
            live.
          </p>
          <SelectField
            id="environment"
            label="Environment"
            value={environment.value}
            options={environments.map((value) => ({ value, name: value }))}
            onChoose={into(environment)}
          />
          <KeyField
            id="environment-key"
            label="Your operator key there"
            help="Used once, not stored."
            value={key.value}
            onType={into(key)}
          />
        </>
      )}
    </Dialog>
  );
};
