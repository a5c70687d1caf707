import type { ResultsAnswer } from '../../server/routes/results.ts';
import { countText, shareText } from '../parts/numbers.ts';
import { NumberHead, TableBox } from '../parts/table-box.tsx';
import { placementName } from '../shell/session.ts';

/** Where people saw it and clicked it: every placement with its variants. */
export const PlacementTable = ({ results: { arms, placements } }: { results: ResultsAnswer }) => {
  const armName = (variantId: string | null) =>
    variantId === null
      ? 'Control group'
      : (arms.find((arm) => arm.variantId === variantId)?.name ?? variantId);
  return (
    <TableBox label="Results by placement">
      <thead>
        <tr>
          <th scope="col">Placement</th>
          <th scope="col">Variant</th>
          <NumberHead>People</NumberHead>
          <NumberHead>Views</NumberHead>
          <NumberHead>Clicked</NumberHead>
        </tr>
      </thead>
      <tbody>
        {placements.map(({ placementId, variantId, exposed, impressions, clicked }) => (
          <tr key={`${placementId} ${variantId}`}>
            <th scope="row">
              <bdi>{placementName(placementId)}</bdi>
            </th>
            <td>
              <bdi>{armName(variantId)}</bdi>
            </td>
            <td class="number">{countText(exposed)}</td>
            <td class="number">{variantId === null ? '–' : countText(impressions)}</td>
            <td class="number">{variantId === null ? '–' : shareText(clicked, exposed)}</td>
          </tr>
        ))}
      </tbody>
    </TableBox>
  );
};
