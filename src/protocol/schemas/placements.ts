import * as z from 'zod/mini';
import { ERROR_MESSAGES } from '../errors.ts';
import { INSERTIONS, type SelectorPlacement } from '../placements.ts';
import { described } from './body.ts';

/** Body of `POST /placard/placements`. */
export const placementsRequest = z.object(
  {
    missing: z
      .optional(
        z.array(z.string(), { error: "'missing' must be a list of placement IDs" }).check(z.maxLength(100)),
      )
      .check(described('Placements whose selector found nothing on a page that they are for, up to 100.')),
  },
  { error: ERROR_MESSAGES.notAnObject },
);

const selectorPlacement: z.ZodMiniType<SelectorPlacement> = z.object({
  placement_id: z.string().check(described('The placement.')),
  selector: z.string().check(described('CSS; the first element that it finds counts.')),
  insert: z.enum(INSERTIONS).check(described('Where its box goes: beside that element, or inside it.')),
  paths: z
    .array(z.string())
    .check(described('Paths of the site that it is for; `*` stands for any characters.')),
  template: z.string().check(described('Name of the template that draws its banners.')),
  height_px: z.number().check(described('Height of its box in CSS pixels.')),
  wide_height_px: z
    .optional(z.number())
    .check(
      described(
        'Its height in CSS pixels where the box is 48 rem wide or wider; without it `height_px` holds there too.',
      ),
    ),
});

/** Response 200. */
export const placementsResponse = z.object({
  placements: z
    .array(selectorPlacement)
    .check(described('All placements of the workspace that have a selector.')),
});
export type PlacementsResponse = z.infer<typeof placementsResponse>;
