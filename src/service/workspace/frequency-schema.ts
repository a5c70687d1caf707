import * as z from 'zod';
import { optional } from './optional.ts';

const times = z.int().positive();

export const tags = z.array(z.string().min(1)).max(20);

export const frequency = z.strictObject({
  impressions: optional(
    z.strictObject({
      max: times.describe('Impressions'),
      days: times.max(30).describe('Days, today included, up to 30'),
    }),
  ).describe('At most so many impressions within so many days'),
  stop_after: optional(
    z.strictObject({
      impressions: optional(times).describe('Impressions'),
      clicks: optional(times).describe('Clicks'),
      conversions: optional(times.max(4)).describe(
        'Conversions of the campaign that the user has reached since the first impression',
      ),
    }),
  ).describe('Over for a user after so many'),
});

export const tagCap = z.strictObject({
  tag: z.string().min(1).describe('A name in the `tags` of campaigns'),
  campaigns_per_day: times.describe('Campaigns of the tag that one user gets a day'),
  exempt: optional(z.array(z.string())).describe('IDs of campaigns that are neither limited nor counted'),
});
