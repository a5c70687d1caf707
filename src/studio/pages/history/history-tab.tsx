import { useSignal } from '@preact/signals';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { ReleaseRow } from '../../server/routes/releases.ts';
import { call } from '../call.ts';
import { LoadView } from '../parts/load-view.tsx';
import { Empty } from '../parts/problem.tsx';
import { useLoad } from '../parts/use-load.ts';
import { signedIn } from '../shell/session.ts';
import { ReleaseItem } from './release-item.tsx';
import { RollBackDialog } from './roll-back-dialog.tsx';
import './history.css';

interface HistoryTabProps {
  row: CampaignRow;
  onChange(): Promise<void>;
}

const NoRelease = () => (
  <Empty title="No release yet">
    <p class="muted">
      {signedIn().workspace.campaignsFrom === 'file'
        ? 'The campaigns of this workspace are in its file. Its history is where the file is kept.'
        : 'Every time this campaign is published, a release is added here. Nothing is ever overwritten.'}
    </p>
  </Empty>
);

/** Every release of a campaign, what it changed, and the way back to it. */
export const HistoryTab = ({ row, onChange }: HistoryTabProps) => {
  const path = `/api/releases?campaign=${encodeURIComponent(row.id)}`;
  const { loaded, again } = useLoad(() => call<{ releases: ReleaseRow[] }>('GET', path), path);
  const chosen = useSignal<ReleaseRow | null>(null);
  return (
    <LoadView loaded={loaded} again={again}>
      {({ releases }) => (
        <>
          {releases.length === 0 && <NoRelease />}
          <ol class="releases">
            {releases.map((release, index) => (
              <ReleaseItem
                key={release.release}
                release={release}
                before={releases[index + 1] ?? null}
                isLive={release.release === row.published?.release}
                onGoBack={() => {
                  chosen.value = release;
                }}
              />
            ))}
          </ol>
          {chosen.value && (
            <RollBackDialog
              row={row}
              release={chosen.value}
              onClose={() => {
                chosen.value = null;
              }}
              onDone={async () => {
                await again();
                await onChange();
              }}
            />
          )}
        </>
      )}
    </LoadView>
  );
};
