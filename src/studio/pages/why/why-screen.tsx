import { useSignal } from '@preact/signals';
import type { CampaignExplanation } from '../../../protocol/index.ts';
import type { WhyAnswer } from '../../server/routes/why.ts';
import { call } from '../call.ts';
import { LoadView } from '../parts/load-view.tsx';
import { Empty } from '../parts/problem.tsx';
import { useLoad } from '../parts/use-load.ts';
import { PersonChoice, type PersonChosen, personBodyOf } from '../preview/person-choice.tsx';
import { Link } from '../shell/address.tsx';
import { placementName } from '../shell/session.ts';
import { outcomeWords } from './outcome-words.ts';
import './why.css';

interface PlacementProps {
  id: string;
  campaigns: readonly CampaignExplanation[];
  isReal: boolean;
}

const Placement = ({ id, campaigns, isReal }: PlacementProps) => {
  const name = (campaignId: string) =>
    campaigns.find((each) => each.campaign_id === campaignId)?.name ?? campaignId;
  return (
    <section class="panel why" aria-labelledby={`why-${id}`}>
      <h2 id={`why-${id}`}>{placementName(id)}</h2>
      {campaigns.length === 0 ? (
        <p class="muted">No campaign is for this placement.</p>
      ) : (
        <ol class="why-list">
          {campaigns.map((each) => {
            const { title, details } = outcomeWords(each, name, isReal);
            return (
              <li key={each.campaign_id} data-outcome={each.outcome}>
                <span class="why-name">
                  <Link to={`/campaigns/${encodeURIComponent(each.campaign_id)}`}>
                    <bdi>{each.name}</bdi>
                  </Link>
                </span>
                <span class="why-outcome">{title}</span>
                {details.length > 0 && (
                  <ul class="why-details">
                    {details.map((words) => (
                      <li key={words}>{words}</li>
                    ))}
                  </ul>
                )}
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
};

/** Why somebody gets what they get: every campaign of every placement in order, with what became of it. */
export const WhyScreen = () => {
  const person = useSignal<PersonChosen>({ kind: 'new', name: '' });
  const body = { person: personBodyOf(person.value) };
  const { loaded, again } = useLoad(
    () => call<WhyAnswer>('POST', '/api/why', { body }),
    JSON.stringify(body),
  );
  return (
    <div>
      <div class="page-head">
        <div>
          <h1>Why</h1>
          <p class="muted">
            Who gets what on each placement at this moment, and what passed the others over.
          </p>
        </div>
        <div class="why-who">
          <PersonChoice
            chosen={person.value}
            onChoose={(chosen) => {
              person.value = chosen;
            }}
          />
        </div>
      </div>
      <LoadView loaded={loaded} again={again}>
        {({ placements, hasProfile, isReal }) => (
          <>
            {isReal && !hasProfile && (
              <p class="why-unknown">
                Nothing is known of this user: they get what somebody new with this ID would get.
              </p>
            )}
            {Object.keys(placements).length === 0 && <Empty title="There are no placements yet" />}
            <div class="why-placements">
              {Object.entries(placements).map(([id, campaigns]) => (
                <Placement key={id} id={id} campaigns={campaigns} isReal={isReal} />
              ))}
            </div>
          </>
        )}
      </LoadView>
    </div>
  );
};
