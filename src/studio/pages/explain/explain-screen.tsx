import { useSignal } from '@preact/signals';
import type { CampaignExplanation, FailingClause, Insertion } from '../../../protocol/index.ts';
import { describeAudience } from '../../campaign/describe-audience.ts';
import { STATUS_WORDS } from '../../campaign/describe-fields.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import type { ExplainResponse, InsertionPointReport } from '../../server/routes/preview.ts';
import { call } from '../call.ts';
import { Button, into } from '../components/controls.tsx';
import { ago, moment } from '../components/format.ts';
import { LoadView, useLoad } from '../components/loading.tsx';
import { Empty } from '../components/notices.tsx';
import { PersonChoice, type PersonChosen, toPersonBody } from '../preview/person-choice.tsx';
import { CampaignLink } from '../shell/router.tsx';
import { audienceName, placementName, signedIn } from '../shell/session.ts';
import '../screens.css';

interface OutcomeLabels {
  title: string;
  details: string[];
}

/** Labels of limits. */
const LIMITS: Readonly<Record<string, string>> = {
  impressions: 'Impressions in the period',
  'stop_after.impressions': 'Impressions',
  'stop_after.clicks': 'Clicks',
  'stop_after.conversions': 'Conversions',
  tag: 'Campaigns today with tag',
};

/** Fields that hold what users did. Without a value, they did not do it. */
const NOT_IN_PROFILE = /^(?:campaigns|events|purchases)\./;

const CLAUSE = /^audience\.?(?:\$and\[\d+\]\.)*/;

/** Returns an audience condition as a sentence, with the user's actual value. */
const describeClause = ({ clause, expected, actual }: FailingClause): string => {
  const field = clause.replace(CLAUSE, '');
  const requirement = describeAudience({ [field]: expected }, audienceName)
    .replace(/^.*?: /, '')
    .replace(/\.$/, '');
  const isUndone = actual === null && NOT_IN_PROFILE.test(field);
  if (actual === undefined || isUndone) return `Requires: ${requirement}.`;
  return `Requires: ${requirement}. Profile: ${actual === null ? 'not set' : `“${String(actual)}”`}.`;
};

const plain = (title: string, ...details: string[]): OutcomeLabels => ({ title, details });

const describeReturn = (at: string | null): string =>
  at === null ? 'Not shown again.' : `Eligible again from ${moment(at)}.`;

interface Names {
  getCampaignName(id: string): string;
  /** Name of the shown variant; `null` for personas, which are not assigned a variant. */
  variantName: string | null;
}

/** Describes the outcome of a campaign for a user. */
const describeOutcome = (
  explanation: CampaignExplanation,
  { getCampaignName, variantName }: Names,
): OutcomeLabels => {
  switch (explanation.outcome) {
    case 'shown':
      return plain(
        explanation.is_test_send ? 'Shown as a test send' : 'Shown',
        ...(variantName === null ? [] : [`Variant “${variantName}”.`]),
      );
    case 'held_out':
      return plain(
        `In the ${explanation.by_holdout ? 'holdout' : 'control group'} (${explanation.control_percentage}%)`,
      );
    case 'inactive':
      return plain(STATUS_WORDS[explanation.status === 'draft' ? 'draft' : 'stopped']);
    case 'outside_schedule': {
      const { starts_at, ends_at } = explanation;
      const isBefore = starts_at !== null && Date.parse(starts_at) > Date.now();
      return plain(
        isBefore ? `Starts ${moment(starts_at)}` : ends_at ? `Ended ${moment(ends_at)}` : 'Outside schedule',
      );
    }
    case 'not_in_audience':
      return plain('Not in the audience', ...explanation.clauses.map(describeClause));
    case 'dismissed': {
      const { dismissed_at, eligible_again_at } = explanation;
      return plain(`Dismissed ${moment(dismissed_at)}`, describeReturn(eligible_again_at));
    }
    case 'frequency_capped': {
      const { limit, tag, max, count, eligible_again_at } = explanation;
      return plain(
        'Frequency cap reached',
        `${LIMITS[limit] ?? limit}${tag ? ` “${tag}”` : ''}: ${count} of ${max}. ${describeReturn(eligible_again_at)}`,
      );
    }
    case 'outranked':
      return plain(`Outranked by “${getCampaignName(explanation.winning_campaign_id)}”`);
    case 'render_failed': {
      const { property, problem } = explanation;
      return plain('Template error', property ? `${property}: ${problem}.` : `${problem}.`);
    }
  }
};

const WHERE: Readonly<Record<Insertion, string>> = {
  before: 'before',
  after: 'after',
  prepend: 'first inside',
  append: 'last inside',
};

/** Insertion point of an automatically inserted placement, with reports of pages without it. */
const InsertionPointText = ({ selector, insert, paths, missing }: InsertionPointReport) => {
  const [site] = signedIn().workspace.sites;
  return (
    <>
      <p class="muted">
        Pages that allow it put this placement {WHERE[insert]} <code>{selector}</code>
        {!paths.includes('*') && (
          <>
            {' '}
            on <code>{paths.join(', ')}</code>
          </>
        )}
        .
      </p>
      {missing && (
        <p class="field-warning">
          {missing.reports === 1
            ? `A page reported a missing element, ${ago(missing.last)}.`
            : `Pages reported a missing element ${formatNumber(missing.reports)} times since ${moment(missing.since)}, last ${ago(missing.last)}.`}{' '}
          Nothing is shown there.
        </p>
      )}
      {site && (
        <a href={`${site}/?placard-devtools`} target="_blank" rel="noreferrer">
          Find a place on the site
        </a>
      )}
    </>
  );
};

interface PlacementProps {
  id: string;
  /** Insertion point; `undefined` if pages do not insert the placement automatically. */
  spot: InsertionPointReport | undefined;
  campaigns: readonly CampaignExplanation[];
  /** Names of the shown variants by campaign; `null` for personas. */
  variantNames: Readonly<Record<string, string>> | null;
}

/** Number of campaigns of a placement that are listed at first, in addition to the shown one. */
const FIRST = 20;

const Placement = ({ id, spot, campaigns, variantNames }: PlacementProps) => {
  const getCampaignName = (campaignId: string) =>
    campaigns.find((each) => each.campaign_id === campaignId)?.name ?? campaignId;
  const isWhole = useSignal(campaigns.length <= FIRST);
  return (
    <section class="panel" aria-labelledby={`why-${id}`}>
      <h2 id={`why-${id}`}>{placementName(id)}</h2>
      {spot && <InsertionPointText {...spot} />}
      {campaigns.length === 0 ? (
        <p class="muted">No campaigns for this placement.</p>
      ) : (
        <ol class="why-list">
          {campaigns.map((each, index) => {
            if (!isWhole.value && index >= FIRST && each.outcome !== 'shown') return null;
            const { title, details } = describeOutcome(each, {
              getCampaignName,
              variantName: variantNames?.[each.campaign_id] ?? null,
            });
            return (
              <li key={each.campaign_id} data-outcome={each.outcome} data-rank={index + 1}>
                <span class="why-name">
                  <CampaignLink id={each.campaign_id} name={each.name} />
                </span>
                <span class="why-outcome">{title}</span>
                {details.length > 0 && (
                  <ul class="why-details">
                    {details.map((detail) => (
                      <li key={detail}>{detail}</li>
                    ))}
                  </ul>
                )}
              </li>
            );
          })}
        </ol>
      )}
      {!isWhole.value && (
        <Button
          onClick={() => {
            isWhole.value = true;
          }}
        >
          Show all {campaigns.length} campaigns
        </Button>
      )}
    </section>
  );
};

/** Maximum placements of a request. */
const MAX_ASKED = 100;

/** Explanation of a user's banners: all campaigns of each placement in order, with the outcome. */
export const ExplainScreen = () => {
  const person = useSignal<PersonChosen>({ kind: 'new', name: '' });
  /** Placements that the last response omitted. */
  const next = useSignal<string[] | null>(null);
  const body = {
    person: toPersonBody(person.value),
    ...(next.value && { placements: next.value.slice(0, MAX_ASKED) }),
  };
  const { loaded, again } = useLoad(
    () => call<ExplainResponse>('POST', '/api/explain', { body }),
    JSON.stringify(body),
  );
  return (
    <div>
      <div class="row apart page-head">
        <div>
          <h1>Why</h1>
          <p class="muted">See which campaign a user gets, and why others were skipped.</p>
        </div>
        <div class="why-who">
          <PersonChoice chosen={person.value} onChoose={into(person)} />
        </div>
      </div>
      <LoadView loaded={loaded} again={again}>
        {({ placements, spots, left, hasProfile, isReal, variantNames }) => (
          <>
            {isReal && !hasProfile && (
              <p class="why-unknown">Unknown user: evaluated as a new user with this ID.</p>
            )}
            {Object.keys(placements).length === 0 && <Empty title="No placements yet" />}
            <div class="stack">
              {Object.entries(placements).map(([id, campaigns]) => (
                <Placement
                  key={id}
                  id={id}
                  spot={spots[id]}
                  campaigns={campaigns}
                  variantNames={isReal ? variantNames : null}
                />
              ))}
            </div>
            {left.length > 0 && (
              <Button
                onClick={() => {
                  next.value = [...left, ...(next.value?.slice(MAX_ASKED) ?? [])];
                }}
              >
                Show the other placements ({left.length})
              </Button>
            )}
          </>
        )}
      </LoadView>
    </div>
  );
};
