import type { ReleaseRow } from '../../server/routes/releases.ts';
import { Changes } from '../editor/changes.tsx';
import { wholeMoment } from '../parts/dates.ts';
import { may } from '../shell/session.ts';

interface ReleaseItemProps {
  release: ReleaseRow;
  /** The release of the same campaign before it. */
  before: ReleaseRow | null;
  /** It is what counts now. A campaign that is stopped has such a release as well. */
  isLive: boolean;
  onGoBack(): void;
}

/** One release: who published it, why, and what it changed. */
export const ReleaseItem = ({ release, before, isLive, onGoBack }: ReleaseItemProps) => (
  <li class="release">
    <div class="release-head">
      <h2>
        Release {release.release}{' '}
        {isLive && <span class="tag">{release.campaign?.status === 'stopped' ? 'Stopped' : 'Live'}</span>}
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
      <button type="button" class="button" onClick={onGoBack}>
        Go back to it …
      </button>
    )}
  </li>
);
