import type { CampaignText } from '../../campaign/campaign-text.ts';
import type { ReleaseRow } from '../../server/routes/releases.ts';
import { wholeMoment } from '../parts/dates.ts';
import { Changes } from './changes.tsx';

interface TheirReleaseProps {
  theirs: ReleaseRow;
  mine: CampaignText;
  onReplace(release: ReleaseRow): void;
}

/** A release that came while this one was written, and what publishing would undo of it. */
export const TheirRelease = ({ theirs, mine, onReplace }: TheirReleaseProps) => (
  <section class="notice" role="alert">
    <h3>
      {theirs.author} published release {theirs.release} on {wholeMoment(theirs.at)}
    </h3>
    <p>Yours began from an older one, and publishing it would undo what is theirs alone:</p>
    <Changes before={theirs.campaign} after={mine} />
    <div class="notice-actions">
      <button type="button" class="button" onClick={() => onReplace(theirs)}>
        Mine is meant to replace it
      </button>
    </div>
  </section>
);
