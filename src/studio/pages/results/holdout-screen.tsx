import type { ResultsAnswer } from '../../server/routes/results.ts';
import { call } from '../call.ts';
import { wholeMoment } from '../parts/format.ts';
import { LoadView, useLoad } from '../parts/server.tsx';
import { signedIn } from '../shell/session.ts';
import { Results } from './results-tab.tsx';

/** What came of all campaigns together: those who get them beside those who are held out of all. */
export const HoldoutScreen = () => {
  const { percentage, since, goals } = signedIn().workspace.holdout!;
  const path = `/api/results/${encodeURIComponent('@holdout')}`;
  const { loaded, again } = useLoad(() => call<ResultsAnswer>('GET', path), path);
  return (
    <>
      <h1>Holdout</h1>
      <p class="muted">
        Since {wholeMoment(since)}, {percentage} % of all users get no campaign. Counted are users who have
        seen a campaign since then, or would have.
      </p>
      <LoadView loaded={loaded} again={again}>
        {(results) => (
          <Results
            results={results}
            goals={goals}
            path={path}
            whenEmpty="Numbers come in with the first user who is new to campaigns."
          />
        )}
      </LoadView>
    </>
  );
};
