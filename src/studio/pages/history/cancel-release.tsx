import type { CampaignVersions, ScheduledRelease } from '../../server/routes/campaigns.ts';
import { call } from '../call.ts';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { wholeMoment } from '../components/format.ts';
import { hasRole, signedIn } from '../shell/session.ts';

export interface ScheduledActionProps {
  row: CampaignVersions;
  scheduled: Pick<ScheduledRelease, 'release' | 'liveAt'>;
  /** Name of the campaign for screen readers, in a list of several campaigns. */
  name?: string;
  onDone(): Promise<void>;
}

/** Returns whether the operator can move and cancel scheduled releases. */
export const canChangeSchedule = () => hasRole('publish') && signedIn().workspace.campaignsFrom === 'studio';

/** Button that cancels a scheduled release after confirmation. Renders nothing if the operator cannot publish. */
export const CancelRelease = ({ row, scheduled, name, onDone }: ScheduledActionProps) => {
  const { release, liveAt } = scheduled;
  if (!canChangeSchedule()) return null;
  const isKept = row.published === null && row.draft === null && row.scheduled.length === 1;
  const cancel = async () => {
    await call('POST', `/api/releases/${release}/cancel`);
    return `Release ${release} canceled.`;
  };
  return (
    <DialogButton
      look="quiet danger"
      name="Cancel release…"
      aria-label={name && `Cancel release ${release} of ${name}`}
    >
      {(close) => (
        <Dialog
          title={`Cancel release ${release}?`}
          onClose={close}
          closeName="Keep it"
          action={{ name: 'Cancel release', act: cancel }}
          onDone={onDone}
        >
          <p>
            It will not go live on {wholeMoment(liveAt)}.{' '}
            {isKept ? 'Its content becomes a draft.' : 'It stays in the history.'}
          </p>
        </Dialog>
      )}
    </DialogButton>
  );
};
