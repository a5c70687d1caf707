import type { ComponentChildren } from 'preact';
import { COUNT_FIELDS } from '../../../protocol/index.ts';
import { capitalize } from '../../campaign/capitalize.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import { languageName } from '../../campaign/translations.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import type { ResultsResponse } from '../../server/routes/results.ts';
import { COUNTS_EXCEPT_IMPRESSIONS } from '../../statistics/metrics.ts';
import { moment, wholeMoment } from '../components/format.ts';
import { Resource } from '../components/loading.tsx';
import { Empty } from '../components/notices.tsx';
import { usePolling } from '../components/polling.ts';
import { placementName, signedIn } from '../shell/session.ts';
import { DayChart, dayText } from './day-chart.tsx';
import { EndTest } from './end-test.tsx';
import { ComparisonTable, CountsTable, PartPanel, SinceTable } from './result-tables.tsx';
import { Tiles } from './tiles.tsx';
import '../screens.css';

/** Definitions of the metrics. */
const Meanings = () => (
  <details class="more">
    <summary>Metric definitions</summary>
    <dl class="meanings">
      <dt>Users</dt>
      <dd>Users with at least one impression. Control group: users who would have had one.</dd>
      <dt>{capitalize(COUNTS_EXCEPT_IMPRESSIONS.map(({ users }) => users).join(', '))}</dt>
      <dd>Users who did it at least once, as a share of the users above.</dd>
      <dt>Goals</dt>
      <dd>
        Users who did it within the goal’s window after their first impression, as a share of the users above.
      </dd>
      <dt>Lift</dt>
      <dd>Relative difference of two rates: 6% against 5% is a lift of 20%.</dd>
      <dt>Interval</dt>
      <dd>
        95% confidence sequence. It holds however often you look, so it is wider than a fixed-sample interval.
      </dd>
      <dt>Winner</dt>
      <dd>
        Named at the target sample size, or at the end without one, by the goals if there are any. An earlier
        lead is often chance.
      </dd>
      <dt>Test users and previews</dt>
      <dd>Excluded from results.</dd>
    </dl>
  </details>
);

/** Formats group sizes, such as `A 1,240 users (1,000 expected), B 760 (1,000 expected)`. */
const formatGroupSizes = (all: ResultsResponse['arms']): string => {
  const arms = all.filter(({ share }) => share > 0);
  const users = arms.reduce((sum, { exposed }) => sum + exposed, 0);
  const shares = arms.reduce((sum, { share }) => sum + share, 0);
  return arms
    .map(({ name, exposed, share }) => {
      const expected = Math.round((users * share) / shares);
      return `${name} ${formatNumber(exposed)} users (${formatNumber(expected)} expected)`;
    })
    .join(', ');
};

interface EndedProps {
  results: ResultsResponse;
  ended: NonNullable<ResultsResponse['ended']>;
}

/** Notice that the test has ended, with the later counts that the results exclude. */
const EndedNotice = ({ results, ended }: EndedProps) => (
  <section class="panel notice" aria-label="Test ended">
    <h2>
      Test ended: <bdi>{ended.winner}</bdi> rolled out
    </h2>
    <p>
      Release {ended.release}, {wholeMoment(ended.at)}. The results below are final. Since then:
    </p>
    <SinceTable since={ended.since} winner={ended.winner} goals={results.goals} />
  </section>
);

const REFRESH_MS = 60_000;

interface ResultsProps {
  results: ResultsResponse;
  /** Loads the results again. */
  again(): Promise<void>;
  /** API path of the results. */
  path: string;
  /** Text if there are no impressions yet. */
  whenEmpty: string;
  /** Action for the results, for example to end the test. */
  action?: ComponentChildren;
}

const Results = ({ results, again, path, whenEmpty, action }: ResultsProps) => {
  usePolling(again, true, REFRESH_MS);
  if (results.arms.every(({ exposed }) => exposed === 0)) {
    return (
      <Empty title={results.headline.sentence}>
        <p class="muted">{whenEmpty}</p>
      </Empty>
    );
  }
  return (
    <div class="stack">
      {results.ended && <EndedNotice results={results} ended={results.ended} />}
      <div class="row apart">
        <div class="results-headline">
          <h2>{results.headline.sentence}</h2>
          {results.headline.details.map((detail) => (
            <p key={detail}>{detail}</p>
          ))}
          <p class="muted">As of {moment(results.asOf)}</p>
        </div>
        {action}
      </div>
      <Tiles results={results} />
      {results.edits.length > 0 && (
        <section class="panel notice">
          <h2>Edited while running</h2>
          <p>Results before and after an edit are summed, although they measure different versions.</p>
          {results.isRedivided && (
            <p>
              The split was changed: users keep the group that they were in first, so a removed variant goes
              on counting what they do with the others. Compare variants up to that day, in Day by day. Sample
              ratio mismatch is not checked.
            </p>
          )}
          <ul>
            {results.edits.map(({ release, day, author, what }) => (
              <li key={release}>
                {dayText(day)}, release {release} by <bdi>{author}</bdi>: {what.join(', ')}
              </li>
            ))}
          </ul>
        </section>
      )}
      {results.ratio?.isSuspicious && (
        <section class="panel notice" role="alert">
          <h2>Sample ratio mismatch</h2>
          <p>
            Group sizes differ from the planned split (p &lt; 0.01): {formatGroupSizes(results.arms)}. A
            variant may fail to load or to count. Find the cause before trusting these results.
          </p>
        </section>
      )}
      {results.currencies.length > 1 && (
        <p class="muted">Revenue is in {results.currencies.join(', ')}, so it is not added up.</p>
      )}
      <section class="panel">
        <div class="row apart">
          <h2>By variant</h2>
          <a class="button" href={`${path}/csv`} download>
            Download CSV
          </a>
        </div>
        <CountsTable arms={results.arms} goals={results.goals} currencies={results.currencies} />
      </section>
      {results.comparisons.length > 0 && (
        <section class="panel">
          <h2>Differences</h2>
          <ComparisonTable results={results} />
        </section>
      )}
      {new Set(results.placements.map(({ placementId }) => placementId)).size > 1 && (
        <PartPanel
          first="Placement"
          arms={results.arms}
          parts={results.placements.map((each) => ({ ...each, name: placementName(each.placementId) }))}
        />
      )}
      {results.languages.length > 0 && (
        <PartPanel
          first="Language"
          arms={results.arms}
          parts={results.languages.map((each) => ({ ...each, name: languageName(each.language) }))}
        />
      )}
      {results.buttons.length > 0 && (
        <PartPanel
          first="Button"
          actions={[COUNT_FIELDS.click]}
          arms={results.arms}
          parts={results.buttons.flatMap(({ buttonId, variantId, clicked }) =>
            results.arms
              .filter((arm) => arm.variantId === variantId)
              .map((arm) => ({ ...arm, name: buttonId, clicked })),
          )}
        />
      )}
      {results.days.length > 0 && (
        <section class="panel">
          <h2>Day by day</h2>
          <DayChart
            days={results.days}
            arms={results.arms}
            goals={results.goals}
            edited={results.edits.map(({ day }) => day)}
            timeZone={results.timeZone}
          />
        </section>
      )}
      <Meanings />
    </div>
  );
};

/** Results of a campaign: the headline, then the evidence. */
export const ResultsTab = ({ row, onChange }: { row: CampaignVersions; onChange(): Promise<void> }) => {
  const path = `/api/results/${encodeURIComponent(row.id)}`;
  return (
    <Resource<ResultsResponse> path={path}>
      {(results, again) => (
        <Results
          results={results}
          again={again}
          path={path}
          action={<EndTest row={row} results={results} onDone={onChange} />}
          whenEmpty={
            row.published
              ? 'Results appear seconds after the first impression.'
              : 'Publish the draft to collect results.'
          }
        />
      )}
    </Resource>
  );
};

/** Combined results of all campaigns compared with the holdout. */
export const HoldoutScreen = () => {
  const { id, percentage, since } = signedIn().workspace.holdout!;
  const path = `/api/results/${encodeURIComponent(id)}`;
  return (
    <>
      <div class="page-head">
        <h1>Holdout</h1>
        <p class="muted">
          Since {wholeMoment(since)}, {percentage}% of all users get no campaign. Counted are users who have
          seen a campaign since then, or would have.
        </p>
      </div>
      <Resource<ResultsResponse> path={path}>
        {(results, again) => (
          <Results
            results={results}
            again={again}
            path={path}
            whenEmpty="Results appear with the first new user."
          />
        )}
      </Resource>
    </>
  );
};
