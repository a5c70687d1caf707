import { TEMPLATE_CATALOGUE, type TemplateEntry } from '../../../templates/index.ts';
import { signedIn } from '../shell/session.ts';

/** Returns the templates of placements; `null` if there is no placement or one has an unknown template. */
export const getPlacementTemplates = (placementIds: readonly string[]): TemplateEntry[] | null => {
  const placements = signedIn().workspace.placements ?? [];
  const names = placementIds.map((id) => placements.find((each) => each.id === id)?.template);
  return names.length > 0 && names.every(Boolean)
    ? TEMPLATE_CATALOGUE.filter(({ name }) => names.includes(name))
    : null;
};
