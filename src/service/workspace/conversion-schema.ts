import * as z from 'zod';
import { optional } from './optional.ts';

/** What counts as a success of a campaign. */
export const conversion = z
  .strictObject({
    event: optional(z.string().min(1)).describe('Name of an event; write either this or `product`'),
    product: optional(z.string().min(1)).describe('ID of a product that is bought'),
    within_hours: z
      .number()
      .positive()
      .max(720)
      .describe('Hours after the first impression in which it counts, up to 720'),
  })
  .refine(({ event, product }) => (event === undefined) !== (product === undefined), {
    error: "expected exactly one of 'event' and 'product'",
  });
