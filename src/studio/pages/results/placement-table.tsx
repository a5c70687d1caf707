import type { ResultsAnswer } from '../../server/routes/results.ts';
import { DataTable } from '../parts/data-table.tsx';
import { countText, shareText } from '../parts/numbers.ts';
import { placementName } from '../shell/session.ts';

/** Where people saw it and clicked it: every placement with its variants. */
export const PlacementTable = ({ results: { arms, placements } }: { results: ResultsAnswer }) => {
  const armName = (variantId: string | null) =>
    variantId === null
      ? 'Control group'
      : (arms.find((arm) => arm.variantId === variantId)?.name ?? variantId);
  return (
    <DataTable
      label="Results by placement"
      rows={placements}
      keyOf={({ placementId, variantId }) => `${placementId} ${variantId}`}
      columns={[
        { name: 'Placement', kind: 'head', cell: ({ placementId }) => placementName(placementId) },
        { name: 'Variant', cell: ({ variantId }) => <bdi>{armName(variantId)}</bdi> },
        { name: 'People', kind: 'number', cell: ({ exposed }) => countText(exposed) },
        {
          name: 'Views',
          kind: 'number',
          cell: ({ variantId, impressions }) => (variantId === null ? '–' : countText(impressions)),
        },
        {
          name: 'Clicked',
          kind: 'number',
          cell: ({ variantId, clicked, exposed }) => (variantId === null ? '–' : shareText(clicked, exposed)),
        },
      ]}
    />
  );
};
