import type { ConversionText } from '../../campaign/campaign-text.ts';
import { type Arm, goalName } from '../../statistics/compare.ts';
import { countText, moneyText, shareText } from '../parts/numbers.ts';
import { NumberHead, TableBox } from '../parts/table-box.tsx';

interface CountsTableProps {
  arms: readonly Arm[];
  goals: readonly ConversionText[];
  currencies: readonly string[];
}

const Share = ({ part, of }: { part: number; of: number }) => (
  <td class="number">
    {shareText(part, of)}
    <span class="small">{countText(part)}</span>
  </td>
);

/** What people did, by variant, the control group beside them. */
export const CountsTable = ({ arms, goals, currencies }: CountsTableProps) => {
  const hasRevenue = (goal: ConversionText) => goal.product != null && currencies.length === 1;
  return (
    <TableBox label="Results by variant">
      <thead>
        <tr>
          <th scope="col">Variant</th>
          <NumberHead>People</NumberHead>
          <NumberHead>Views</NumberHead>
          <NumberHead>Clicked</NumberHead>
          <NumberHead>Dismissed</NumberHead>
          {goals.map((goal) => (
            <NumberHead key={goalName(goal)}>
              <bdi>{goalName(goal)}</bdi>
            </NumberHead>
          ))}
          {goals.map((goal) =>
            hasRevenue(goal) ? (
              <NumberHead key={`revenue ${goalName(goal)}`}>{currencies[0]} a person</NumberHead>
            ) : null,
          )}
        </tr>
      </thead>
      <tbody>
        {arms.map((arm) => (
          <tr key={arm.variantId}>
            <th scope="row">
              <bdi>{arm.variantId === null ? 'Control group' : arm.name}</bdi>
            </th>
            <td class="number">{countText(arm.exposed)}</td>
            <td class="number">{arm.variantId === null ? '–' : countText(arm.impressions)}</td>
            {arm.variantId === null ? (
              <td class="number">–</td>
            ) : (
              <Share part={arm.clicked} of={arm.exposed} />
            )}
            {arm.variantId === null ? (
              <td class="number">–</td>
            ) : (
              <Share part={arm.dismissed} of={arm.exposed} />
            )}
            {arm.goals.map(({ converted }, index) => (
              <Share key={goalName(goals[index]!)} part={converted} of={arm.exposed} />
            ))}
            {arm.goals.map(({ revenue }, index) =>
              hasRevenue(goals[index]!) ? (
                <td key={`revenue ${goalName(goals[index]!)}`} class="number">
                  {arm.exposed === 0 ? '–' : moneyText(revenue / arm.exposed)}
                </td>
              ) : null,
            )}
          </tr>
        ))}
      </tbody>
    </TableBox>
  );
};
