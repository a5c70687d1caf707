import { useSignal } from '@preact/signals';
import { scheduleState } from '../../campaign/campaign-json.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import type { PublishResponse, ReleaseRow, ReleasesResponse } from '../../server/routes/releases.ts';
import { call } from '../call.ts';
import { Dialog, DialogButton, NoteField } from '../components/dialog.tsx';
import { wholeMoment } from '../components/format.ts';
import { Pages, Resource } from '../components/loading.tsx';
import { Empty } from '../components/notices.tsx';
import { Changes } from '../editor/changes.tsx';
import { STATE_LABELS } from '../list/campaign-list.tsx';
import { hasRole, signedIn } from '../shell/session.ts';
import { ScheduledActions, type ScheduledChoice, ScheduledChoiceField, scheduledIn } from './scheduled.tsx';
import '../screens.css';

interface ReleaseItemProps {
  row: CampaignVersions;
  release: ReleaseRow;
  /** Release that it replaces when it goes live; `null` if none. */
  before: ReleaseRow | null;
  onDone(): Promise<void>;
}

/** Returns the release that another one replaces when it goes live. A scheduled release replaces fixes published after it. */
const findReplaced = (releases: readonly ReleaseRow[], { release, liveAt }: ReleaseRow) =>
  releases
    .filter((each) => each.release !== release && each.cancelledAt === null && each.liveAt <= liveAt)
    // `releases` are newest first: of equal times, only an older one was live before.
    .filter((each) => each.liveAt < liveAt || each.release < release)
    .reduce<ReleaseRow | null>((last, each) => (last && last.liveAt >= each.liveAt ? last : each), null);

/** Release with its author, note, changes, to restore. */
const ReleaseItem = ({ row, release, before, onDone }: ReleaseItemProps) => {
  const isLive = release.release === row.published?.release;
  const isCancelled = release.cancelledAt !== null;
  const isScheduled = !isCancelled && Date.parse(release.liveAt) > Date.now();
  return (
    <li class="panel">
      <div class="row">
        <h2>
          Release {release.release}{' '}
          {isLive && (
            <span class="tag">
              {STATE_LABELS[release.campaign ? scheduleState(release.campaign, Date.now()) : 'archived']}
            </span>
          )}
          {isScheduled && <span class="tag">Scheduled</span>}
          {isCancelled && <span class="tag">Canceled</span>}
        </h2>
        <p class="muted">
          <bdi>{release.author}</bdi>, {wholeMoment(release.at)}
          {release.liveAt !== release.at &&
            (isCancelled
              ? `, scheduled for ${wholeMoment(release.liveAt)}, canceled on ${wholeMoment(release.cancelledAt!)}`
              : `, live on ${wholeMoment(release.liveAt)}`)}
        </p>
      </div>
      {release.note && <p dir="auto">{release.note}</p>}
      <details class="more">
        <summary>{before ? `Changes since release ${before.release}` : 'All fields'}</summary>
        <Changes before={before?.campaign ?? null} after={release.campaign} />
      </details>
      {isScheduled && (
        <div class="row">
          <ScheduledActions row={row} scheduled={release} onDone={onDone} />
        </div>
      )}
      {hasRole('publish') && !isLive && !isScheduled && (
        <DialogButton name="Restore…" aria-label={`Restore release ${release.release}`}>
          {(close) => <RestoreDialog row={row} release={release} onClose={close} onDone={onDone} />}
        </DialogButton>
      )}
    </li>
  );
};

interface RestoreDialogProps {
  row: CampaignVersions;
  release: ReleaseRow;
  onClose(): void;
  onDone(): Promise<void>;
}

/** Dialog that shows the changes to a previous release and publishes it again. */
const RestoreDialog = ({ row, release, onClose, onDone }: RestoreDialogProps) => {
  const note = useSignal(`Back to release ${release.release}`);
  const scheduled = useSignal<ScheduledChoice>('keep');
  const restore = async () => {
    const response = await call<PublishResponse>('POST', `/api/releases/${release.release}/restore`, {
      body: { note: note.value, based_on: row.newest, ...scheduledIn(row, scheduled.value) },
    });
    return `Release ${response.release} is live. It restores release ${release.release}.`;
  };
  return (
    <Dialog
      title={`Restore release ${release.release}?`}
      isWide
      onClose={onClose}
      action={{ name: 'Restore', act: restore }}
      onDone={onDone}
    >
      <p>Publishes this version as a new release. Changes to what is live now:</p>
      <Changes before={row.published?.campaign ?? null} after={release.campaign} />
      <ScheduledChoiceField row={row} choice={scheduled} />
      <NoteField id="restore-note" label="Note for the history" note={note} />
    </Dialog>
  );
};

const NoRelease = () => (
  <Empty title="No release yet">
    <p class="muted">
      {signedIn().workspace.campaignsFrom === 'file'
        ? 'Campaigns are managed in the workspace file. See its history there.'
        : 'Each publish adds a release. Releases can’t be changed.'}
    </p>
  </Empty>
);

/** Releases of a campaign with their changes, to restore. */
export const HistoryTab = ({ row, onChange }: { row: CampaignVersions; onChange(): Promise<void> }) => {
  const path = `/api/releases?campaign=${encodeURIComponent(row.id)}`;
  return (
    <Resource<ReleasesResponse> path={path}>
      {(first, again) => (
        <Pages
          // Remounts after a restore, because the loaded pages are outdated.
          key={first.releases[0]?.release}
          first={first}
          read={(before) => call<ReleasesResponse>('GET', `${path}&before=${before}`)}
          moreName="Show older"
        >
          {(pages) => {
            const releases = pages.flatMap((page) => page.releases);
            if (releases.length === 0) return <NoRelease />;
            return (
              <ol class="stack releases">
                {releases.map((release) => (
                  <ReleaseItem
                    key={release.release}
                    row={row}
                    release={release}
                    before={findReplaced(releases, release)}
                    onDone={async () => {
                      await again();
                      await onChange();
                    }}
                  />
                ))}
              </ol>
            );
          }}
        </Pages>
      )}
    </Resource>
  );
};
