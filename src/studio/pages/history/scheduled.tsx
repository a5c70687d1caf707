import { type Signal, useSignal } from '@preact/signals';
import type { CampaignJson } from '../../campaign/campaign-json.ts';
import type { CampaignVersions, ScheduledRelease } from '../../server/routes/campaigns.ts';
import type { PublishResponse } from '../../server/routes/releases.ts';
import { ActionError, call } from '../call.ts';
import { Button, into, Segments } from '../components/controls.tsx';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { MomentField } from '../components/fields.tsx';
import { wholeMoment } from '../components/format.ts';
import { Changes } from '../editor/changes.tsx';
import { signedIn } from '../shell/session.ts';
import { CancelRelease, canChangeSchedule, type ScheduledActionProps } from './cancel-release.tsx';

const MoveDialog = ({
  scheduled: { release, liveAt },
  onClose,
  onDone,
}: ScheduledActionProps & { onClose(): void }) => {
  const at = useSignal<string | null>(liveAt);
  const move = async () => {
    if (at.value === null) throw new ActionError('Choose a date and time.');
    const body = { live_at: at.value };
    const moved = await call<PublishResponse>('POST', `/api/releases/${release}/move`, { body });
    return `Release ${release} goes live on ${wholeMoment(moved.liveAt)}.`;
  };
  return (
    <Dialog
      title={`Move release ${release}`}
      onClose={onClose}
      action={{ name: 'Move', act: move }}
      onDone={onDone}
    >
      <p>Scheduled for {wholeMoment(liveAt)}.</p>
      <MomentField
        id="move-to"
        label={`New date and time in ${signedIn().workspace.timeZone}`}
        value={at.value}
        onChange={into(at)}
      />
    </Dialog>
  );
};

/** Buttons that move and cancel a scheduled release. Renders nothing if the operator cannot publish. */
export const ScheduledActions = (props: ScheduledActionProps) => {
  const { release } = props.scheduled;
  if (!canChangeSchedule()) return null;
  return (
    <>
      <DialogButton
        look="quiet"
        name="Move…"
        aria-label={props.name && `Move release ${release} of ${props.name}`}
      >
        {(close) => <MoveDialog {...props} onClose={close} />}
      </DialogButton>
      <CancelRelease {...props} />
    </>
  );
};

/** Whether publishing keeps or cancels scheduled releases. */
export type ScheduledChoice = 'keep' | 'cancel';

/** Returns the choice as request members; `{}` if nothing is scheduled. */
export const scheduledIn = (row: CampaignVersions, scheduled: ScheduledChoice) =>
  row.scheduled.length > 0 ? { scheduled } : {};

/** Formats release numbers, such as `Releases 9, 10`. */
const formatReleases = (releases: readonly ScheduledRelease[]): string =>
  `Release${releases.length > 1 ? 's' : ''} ${releases.map(({ release }) => release).join(', ')}`;

interface ScheduledChoiceFieldProps {
  row: CampaignVersions;
  choice: Signal<ScheduledChoice>;
  /** Time when the new release goes live. Default: now. */
  liveAt?: string | null;
  /** Content of the new release, to show what the next release changes. Default: shows nothing. */
  campaign?: CampaignJson | null;
}

/** Choice to keep or cancel the scheduled releases. Renders nothing if there are none. */
export const ScheduledChoiceField = ({
  row: { scheduled },
  choice,
  liveAt = null,
  campaign = null,
}: ScheduledChoiceFieldProps) => {
  const [next] = scheduled;
  if (!next) return null;
  const isOne = scheduled.length === 1;
  const later = scheduled.filter((each) => liveAt === null || Date.parse(each.liveAt) > Date.parse(liveAt));
  const explain = () => {
    if (choice.value === 'cancel') return isOne ? 'It does not go live.' : 'They do not go live.';
    if (later.length === 0) return `This version replaces ${isOne ? 'it' : 'them'} when it goes live.`;
    if (isOne) return 'It replaces this version when it goes live.';
    return `${formatReleases(later)} will replace this version.`;
  };
  return (
    <section class="panel notice">
      <Segments
        label={`${formatReleases(scheduled)}, scheduled for ${scheduled.map((each) => wholeMoment(each.liveAt)).join(' and ')}`}
        options={[
          { value: 'keep', name: 'Keep' },
          { value: 'cancel', name: isOne ? 'Cancel it' : 'Cancel them' },
        ]}
        chosen={choice.value}
        onChoose={into(choice)}
      />
      <p>{explain()}</p>
      {choice.value === 'keep' && campaign && later[0] && (
        <Changes before={campaign} after={later[0].campaign} />
      )}
    </section>
  );
};

interface ScheduledNoticeProps {
  row: CampaignVersions;
  /** Loads the content of a scheduled release into the editor; `null` if not available. */
  onEdit: ((release: ScheduledRelease) => void) | null;
  onDone(): Promise<void>;
}

/** Scheduled releases of a campaign, with their actions. */
export const ScheduledNotice = ({ row, onEdit, onDone }: ScheduledNoticeProps) => (
  <>
    {row.scheduled.map((each) => (
      <section key={each.release} class="panel notice" aria-label={`Scheduled release ${each.release}`}>
        <div class="row apart">
          <p>
            <b>Release {each.release}</b> by <bdi>{each.author}</bdi> goes live on {wholeMoment(each.liveAt)}.
            {each.stopIf && ' Stops the campaign instead if a goal falls below the control group.'}
          </p>
          <div class="row">
            {onEdit && <Button onClick={() => onEdit(each)}>Edit this version</Button>}
            <ScheduledActions row={row} scheduled={each} onDone={onDone} />
          </div>
        </div>
      </section>
    ))}
  </>
);
