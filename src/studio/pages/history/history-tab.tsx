import { useSignal } from '@preact/signals';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { PublishedAnswer, ReleaseRow } from '../../server/routes/releases.ts';
import { call, wordsOf } from '../call.ts';
import { Changes } from '../editor/changes.tsx';
import { announce } from '../parts/announce.tsx';
import { wholeMoment } from '../parts/dates.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Empty, Problem } from '../parts/problem.tsx';
import { useLoad } from '../parts/use-load.ts';
import { may, signedIn } from '../shell/session.ts';
import './history.css';

interface HistoryTabProps {
  row: CampaignRow;
  onChange(): Promise<void>;
}

const RollBack = ({
  row,
  release,
  onClose,
  onDone,
}: {
  row: CampaignRow;
  release: ReleaseRow;
  onClose(): void;
  onDone(): Promise<void>;
}) => {
  const note = useSignal(`Back to release ${release.release}`);
  const problem = useSignal<string | null>(null);
  const rollBack = async () => {
    try {
      const answer = await call<PublishedAnswer>('POST', `/api/releases/${release.release}/restore`, {
        body: { note: note.value, based_on: row.newest },
      });
      announce(`Release ${answer.release} is live: it is release ${release.release} again.`);
      onClose();
      await onDone();
    } catch (error) {
      problem.value = wordsOf(error);
    }
  };
  return (
    <Dialog
      title={`Go back to release ${release.release}?`}
      isWide
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            Not now
          </button>
          <button type="button" class="button primary" onClick={() => void rollBack()}>
            Publish it again
          </button>
        </>
      }
    >
      <p>This makes a new release. What is published now, then what it would be:</p>
      <Changes before={row.published?.campaign ?? null} after={release.campaign} />
      <div class="field">
        <label for="roll-back-note">Note for the history</label>
        <textarea
          id="roll-back-note"
          rows={2}
          value={note.value}
          onInput={(event) => {
            note.value = event.currentTarget.value;
          }}
        />
      </div>
      <p class="field-problem" role="alert">
        {problem.value}
      </p>
    </Dialog>
  );
};

/** Every release of a campaign, what it changed, and the way back to it. */
export const HistoryTab = ({ row, onChange }: HistoryTabProps) => {
  const path = `/api/releases?campaign=${encodeURIComponent(row.id)}`;
  const { loaded, again } = useLoad(() => call<{ releases: ReleaseRow[] }>('GET', path), path);
  const chosen = useSignal<ReleaseRow | null>(null);
  if (loaded.state === 'loading') return <div aria-busy="true" />;
  if (loaded.state === 'failed') {
    return (
      <Problem title={loaded.words}>
        <button type="button" class="button" onClick={() => void again()}>
          Try again
        </button>
      </Problem>
    );
  }
  const { releases } = loaded.value;
  if (releases.length === 0) {
    const isFile = signedIn().workspace.campaignsFrom === 'file';
    return (
      <Empty title="No release yet">
        <p class="muted">
          {isFile
            ? 'The campaigns of this workspace are in its file. Its history is where the file is kept.'
            : 'Every time this campaign is published, a release is added here. Nothing is ever overwritten.'}
        </p>
      </Empty>
    );
  }
  return (
    <>
      <ol class="releases">
        {releases.map((release, index) => {
          const before = releases[index + 1];
          const isLive = release.release === row.published?.release;
          return (
            <li key={release.release} class="release">
              <div class="release-head">
                <h2>
                  Release {release.release} {isLive && <span class="tag">Live</span>}
                  {Date.parse(release.liveAt) > Date.now() && <span class="tag">Planned</span>}
                </h2>
                <p class="muted">
                  <bdi>{release.author}</bdi>, {wholeMoment(release.at)}
                  {release.liveAt !== release.at && `, live on ${wholeMoment(release.liveAt)}`}
                </p>
              </div>
              {release.note && <p dir="auto">{release.note}</p>}
              <details class="more">
                <summary>{before ? `Changes since release ${before.release}` : 'What it says'}</summary>
                <Changes before={before?.campaign ?? null} after={release.campaign} />
              </details>
              {may('publish') && !isLive && (
                <button
                  type="button"
                  class="button"
                  onClick={() => {
                    chosen.value = release;
                  }}
                >
                  Go back to it …
                </button>
              )}
            </li>
          );
        })}
      </ol>
      {chosen.value && (
        <RollBack
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
  );
};
