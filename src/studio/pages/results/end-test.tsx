import { useSignal } from '@preact/signals';
import { getShares, getVariantShares } from '../../campaign/shares.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import type { PublishResponse } from '../../server/routes/releases.ts';
import type { ResultsResponse } from '../../server/routes/results.ts';
import { findLeader } from '../../statistics/sentences.ts';
import { call } from '../call.ts';
import { CheckBoxes, into, Segments } from '../components/controls.tsx';
import { Dialog, DialogButton, NoteField } from '../components/dialog.tsx';
import { type ScheduledChoice, ScheduledChoiceField, scheduledIn } from '../history/scheduled.tsx';
import { hasRole, signedIn } from '../shell/session.ts';

interface EndTestProps {
  row: CampaignVersions;
  results: ResultsResponse;
  onDone(): Promise<void>;
}

const EndTestDialog = ({ row, results, onClose, onDone }: EndTestProps & { onClose(): void }) => {
  const { campaign } = row.published!;
  const variants = getVariantShares(campaign).map(({ variantId, name }) => ({ value: variantId, name }));
  const control = getShares(campaign).find(({ variantId }) => variantId === null);
  const winner = useSignal(findLeader(results) ?? variants.at(-1)!.value);
  const kept = useSignal<'control'[]>(control ? ['control'] : []);
  const scheduled = useSignal<ScheduledChoice>('cancel');
  const note = useSignal('');
  const { name } = variants.find(({ value }) => value === winner.value)!;
  const act = async () => {
    const { release } = await call<PublishResponse>(
      'POST',
      `/api/campaigns/${encodeURIComponent(row.id)}/end-test`,
      {
        body: {
          winner: winner.value,
          keep_control_group: kept.value.length > 0,
          note: note.value,
          based_on: row.newest,
          ...scheduledIn(row, scheduled.value),
        },
      },
    );
    return `Test ended. Release ${release} rolls out ${name}.`;
  };
  return (
    <Dialog
      title="End test"
      onClose={onClose}
      action={{ name: `End test and roll out ${name}`, act }}
      onDone={onDone}
    >
      <p>Results are kept as they are now. From now on everyone gets one variant.</p>
      <Segments label="Roll out" options={variants} chosen={winner.value} onChoose={into(winner)} />
      {control && (
        <CheckBoxes
          options={[{ value: 'control', name: `Keep control group (${control.percent}%)` }]}
          chosen={kept.value}
          onChoose={into(kept)}
        />
      )}
      <ScheduledChoiceField row={row} choice={scheduled} />
      <NoteField id="end-test-note" label="Note for the history" note={note} />
    </Dialog>
  );
};

/** Action that ends the A/B test of a live campaign with several variants. */
export const EndTest = (props: EndTestProps) => {
  const { row } = props;
  const { published } = row;
  const { status, ends_at } = published?.campaign ?? {};
  const isTest =
    published &&
    status === 'active' &&
    (!ends_at || Date.parse(ends_at) > Date.now()) &&
    getVariantShares(published.campaign).length > 1;
  if (!isTest || row.isArchived || !hasRole('publish') || signedIn().workspace.campaignsFrom !== 'studio')
    return null;
  return (
    <DialogButton name="End test…">{(close) => <EndTestDialog {...props} onClose={close} />}</DialogButton>
  );
};
