import type { ConversionText } from '../../campaign/campaign-text.ts';
import { type Arm, goalName } from '../../statistics/metrics.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { countText, moneyText, shareText } from '../parts/numbers.ts';

interface CountsTableProps {
  arms: readonly Arm[];
  goals: readonly ConversionText[];
  currencies: readonly string[];
}

const NONE = '–';

const share = (part: number, of: number) => (
  <>
    {shareText(part, of)} <span class="small">{countText(part)}</span>
  </>
);
/** A column of what the control group cannot have: it sees nothing. */
const ofSeen = (name: string, cell: Column<Arm>['cell']): Column<Arm> => ({
  name,
  kind: 'number',
  cell: (arm) => (arm.variantId === null ? NONE : cell(arm)),
});

/** What people did, by variant, the control group beside them. */
export const CountsTable = ({ arms, goals, currencies }: CountsTableProps) => {
  const goalColumns = goals.map(
    (goal, index): Column<Arm> => ({
      name: goalName(goal),
      id: `goal ${index}`,
      kind: 'number',
      cell: (arm) => share(arm.goals[index]!.converted, arm.exposed),
    }),
  );
  const revenueColumns = goals.flatMap((goal, index): Column<Arm>[] => {
    if (goal.product == null || currencies.length !== 1) return [];
    const cell = ({ exposed, goals: of }: Arm) =>
      exposed === 0 ? NONE : moneyText(of[index]!.revenue / exposed);
    return [{ name: `${currencies[0]} a person`, id: `revenue ${index}`, kind: 'number', cell }];
  });
  return (
    <DataTable
      label="Results by variant"
      rows={arms}
      keyOf={({ variantId }) => variantId ?? ''}
      columns={[
        {
          name: 'Variant',
          kind: 'head',
          cell: ({ variantId, name }) => (variantId === null ? 'Control group' : name),
        },
        { name: 'People', kind: 'number', cell: ({ exposed }) => countText(exposed) },
        ofSeen('Views', ({ impressions }) => countText(impressions)),
        ofSeen('Clicked', ({ clicked, exposed }) => share(clicked, exposed)),
        ofSeen('Dismissed', ({ dismissed, exposed }) => share(dismissed, exposed)),
        ...goalColumns,
        ...revenueColumns,
      ]}
    />
  );
};
