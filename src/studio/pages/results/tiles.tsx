import { formatNumber } from '../../campaign/format-number.ts';
import type { ResultsResponse } from '../../server/routes/results.ts';
import type { Comparison } from '../../statistics/compare.ts';
import { formatLift } from '../../statistics/format-difference.ts';
import { goalName } from '../../statistics/metrics.ts';
import { formatInterval, isHigher, isLower } from '../../statistics/sentences.ts';
import { formatShare } from '../components/format.ts';

const getDirection = (compared: Comparison) =>
  isHigher(compared) ? 'higher' : isLower(compared) ? 'lower' : undefined;

/** Main numbers of each variant and of the control group: the rate of the first goal, or of clicks without a goal. */
export const Tiles = ({ results: { arms, goals, comparisons } }: { results: ResultsResponse }) => {
  const [goal] = goals;
  const metric = goal ? 'goal 0' : 'click';
  return (
    <ul class="tiles">
      {arms.map(({ variantId, name, exposed, impressions, clicks, clicked, goals: totals }, index) => {
        const isControl = variantId === null;
        const converted = goal ? (totals[0]?.converted ?? 0) : clicked;
        const compared = comparisons.find((each) => each.metric === metric && each.treatment === index);
        const versus = compared && arms[compared.baseline]!;
        return (
          <li key={variantId} class="panel tile">
            <h3>
              <bdi>{isControl ? 'Control group' : name}</bdi>
            </h3>
            <p class="tile-rate">{isControl && !goal ? '–' : formatShare(converted, exposed)}</p>
            <p class="muted">
              {goal ? goalName(goal) : 'Clicked'}, {formatNumber(converted)} of {formatNumber(exposed)} users
            </p>
            {compared && (
              <p data-difference={getDirection(compared)}>
                {compared.lift !== null && `${formatLift(compared.lift)} `}vs{' '}
                <bdi>{versus!.variantId === null ? 'control' : versus!.name}</bdi>
                <span class="small">{formatInterval(compared)}</span>
              </p>
            )}
            {!isControl && (
              <p class="small">
                {formatNumber(impressions)} impressions, {formatNumber(clicks)} clicks (
                {formatShare(clicks, impressions)})
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
};
