import { useSignal } from '@preact/signals';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { ReleaseRow, ReleasesAnswer } from '../../server/routes/releases.ts';
import { call } from '../call.ts';
import { LoadView } from '../parts/load-view.tsx';
import { Empty } from '../parts/problem.tsx';
import { useAction } from '../parts/use-action.ts';
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

/** The releases that were loaded, and older ones on request. */
const Releases = (props: {
  first: ReleasesAnswer;
  path: string;
  row: CampaignRow;
  onGoBack(to: ReleaseRow): void;
}) => {
  const { first, path, row, onGoBack } = props;
  const more = useSignal<ReleasesAnswer[]>([]);
  const pages = [first, ...more.value];
  const releases = pages.flatMap((page) => page.releases);
  const { before } = pages.at(-1)!;
  const load = useAction(async () => {
    more.value = [...more.value, await call<ReleasesAnswer>('GET', `${path}&before=${before}`)];
  });
  return (
    <>
      {releases.length === 0 && <NoRelease />}
      <ol class="releases">
        {releases.map((release, index) => (
          <ReleaseItem
            key={release.release}
            release={release}
            before={releases[index + 1] ?? null}
            isLive={release.release === row.published?.release}
            onGoBack={() => onGoBack(release)}
          />
        ))}
      </ol>
      {before !== null && (
        <button type="button" class="button" onClick={() => void load.run()}>
          Show older
        </button>
      )}
      <p class="field-problem">{load.problem.value}</p>
    </>
  );
};

/** Every release of a campaign, what it changed, and the way back to it. */
export const HistoryTab = ({ row, onChange }: HistoryTabProps) => {
  const path = `/api/releases?campaign=${encodeURIComponent(row.id)}`;
  const { loaded, again } = useLoad(() => call<ReleasesAnswer>('GET', path), path);
  const chosen = useSignal<ReleaseRow | null>(null);
  return (
    <LoadView loaded={loaded} again={again}>
      {(first) => (
        <>
          <Releases
            // After a roll back the pages before it are those of another history.
            key={first.releases[0]?.release}
            first={first}
            path={path}
            row={row}
            onGoBack={(release) => {
              chosen.value = release;
            }}
          />
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
