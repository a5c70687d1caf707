import * as z from 'zod';
import { optional } from './optional.ts';

const rule = {
  requests: z.int().positive().describe('How many requests one window takes'),
  window_seconds: z.int().positive().describe('How long a window is, in seconds'),
};

/** Requests are counted by the length of a window: two of one length would share a count. */
const windows = z
  .array(z.strictObject(rule))
  .min(1)
  .superRefine((all, context) => {
    const lengths = all.map(({ window_seconds }) => window_seconds);
    for (const [index, length] of lengths.entries()) {
      if (lengths.indexOf(length) === index) continue;
      context.addIssue({
        code: 'custom',
        path: [index, 'window_seconds'],
        message: `expected it once, got ${length} again`,
      });
    }
  });

const limitShape = {
  requests: optional(rule.requests).describe(rule.requests.description!),
  window_seconds: optional(rule.window_seconds).describe(rule.window_seconds.description!),
  windows: optional(windows).describe('Several windows, in place of `requests` and `window_seconds`'),
};

/** One window, or several under `windows`; neither where the limit has only what goes beside them. */
const oneOrSeveral = (
  { requests, window_seconds, windows: several, ...beside }: Record<string, unknown>,
  context: { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void },
) => {
  const hasPart = requests !== undefined || window_seconds !== undefined;
  const hasWhole = requests !== undefined && window_seconds !== undefined;
  const hasBeside = Object.values(beside).some((value) => value !== undefined);
  if (hasPart ? hasWhole && several === undefined : several !== undefined || hasBeside) return;
  context.addIssue({
    code: 'custom',
    path: [],
    message: "expected either 'requests' and 'window_seconds', or 'windows'",
  });
};

const limit = z.strictObject(limitShape).superRefine(oneOrSeveral);
const bannersLimit = z
  .strictObject({
    ...limitShape,
    per_user: optional(z.strictObject(rule)).describe('The window of each user'),
  })
  .superRefine(oneOrSeveral);
const usersTrackLimit = z
  .strictObject({
    ...limitShape,
    objects: optional(z.enum(['combined', 'per_array'])).describe(
      'Whether the 75 objects of a request are counted over all arrays (`combined`, the default) or in each (`per_array`)',
    ),
  })
  .superRefine(oneOrSeveral);

/** How many requests each endpoint takes. */
export const limits = z.strictObject({
  users_track: optional(usersTrackLimit).describe('`/users/track`; default 3,000 in 3 seconds'),
  users_track_bulk: optional(limit).describe('`/users/track/bulk`; default 50 in 1 second'),
  users_other: optional(limit).describe(
    '`/users/identify`, `/users/merge`, `/users/alias/new`, `/users/delete` and `/placard/explain` together; default 20,000 in 60 seconds',
  ),
  users_export_ids: optional(limit).describe('`/users/export/ids`; default 250 in 60 seconds'),
  banners_sync: optional(bannersLimit).describe(
    '`banners/sync`; default 60 in 60 seconds for each user, and no limit for all users together',
  ),
  banners_track: optional(bannersLimit).describe(
    '`banners/track`; default 60 in 60 seconds for each user, and no limit for all users together',
  ),
  visitors: optional(limit).describe(
    '`banners/track` of all visitors without an account together, whom anybody can make up; default 6,000 in 60 seconds',
  ),
  new_users: optional(limit).describe(
    'Users of all apps together whom `banners/track` meets first: each gets a row, and anybody can make them up; default 6,000 in 60 seconds',
  ),
  cdi_integrations: optional(limit).describe('`/cdi/integrations`; default 50 in 60 seconds'),
});
