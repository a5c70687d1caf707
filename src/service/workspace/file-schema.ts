import * as z from 'zod';
import { CLIENT_PERMISSIONS, INSERTIONS, SERVER_PERMISSIONS } from '../../protocol/index.ts';
import { campaignFile, holdoutFile, segmentFile, tagCap } from './campaign-schema.ts';
import { integrationFile } from './integration-schema.ts';
import { limits } from './limits.ts';
import { named, optional, text } from './schema-helpers.ts';
import { operatorFile, PLACEMENT_TEMPLATES, studioFile } from './studio-settings.ts';
import { webhookFile } from './webhook-schema.ts';

const app = z.strictObject({
  app_id: text.describe('ID that clients send as `appId`'),
  name: named,
  platform: optional(z.string()).describe('Platform, such as `web`; available in Liquid'),
  user_tokens: optional(z.enum(['off', 'optional', 'required'])).describe(
    'User tokens: `off` (default), `optional` (tokens that are sent must be valid) or `required`',
  ),
  user_token_keys: optional(z.array(z.union([z.string(), z.record(z.string(), z.unknown())]))).describe(
    'Public keys that verify user tokens: a PEM as text, a JWK or a JWKS as an object',
  ),
  user_token_keys_file: optional(text).describe(
    'File of public keys, relative to this file: a JWKS, a JWK or one or more PEMs; reloaded on change',
  ),
  visitors: optional(z.boolean()).describe(
    'Whether anonymous visitors need no token if `user_tokens` is `required`; default `false`',
  ),
});

/** Key that is valid in an `Authorization` header: no space, no leading quote, at most 1,024 characters with `Bearer`. */
const presentable = z.string().regex(/^(?!["'])[\x21-\x7e\xa1-\xff]{1,1017}$/, {
  error: 'expected 1 to 1017 characters that a header can carry, without spaces or a quote in front',
});

const apiKey = z
  .strictObject({
    name: named,
    type: z
      .enum(['client', 'server'])
      .describe('`client` (public, for pages) or `server` (secret, for backends)'),
    key: optional(presentable).describe('Key in plain text; exactly one of `key` and `key_sha256`'),
    key_sha256: optional(
      z.string().regex(/^[0-9a-f]{64}$/i, { error: 'expected 64 hexadecimal digits', abort: true }),
    ).describe('SHA-256 of the key, 64 hexadecimal digits'),
    permissions: z
      .array(z.enum([...CLIENT_PERMISSIONS, ...SERVER_PERMISSIONS]))
      .describe('Permissions; client keys may only have those that begin with `banners.`'),
  })
  .superRefine((key, context) => {
    const problem = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if ((key.key === undefined) === (key.key_sha256 === undefined)) {
      problem([], "expected exactly one of 'key' and 'key_sha256'");
    }
    const allowed: readonly string[] = key.type === 'client' ? CLIENT_PERMISSIONS : SERVER_PERMISSIONS;
    for (const [index, permission] of key.permissions.entries()) {
      if (!allowed.includes(permission)) {
        problem(
          ['permissions', index],
          `expected a permission of a ${key.type} key (${allowed.join(', ')}), got "${permission}"`,
        );
      }
    }
  });

/**
 * Returns whether a selector has no braces, which would end a CSS rule, and no unclosed brackets or quotes. Only a page can
 * determine whether the selector matches.
 */
const isSelector = (selector: string): boolean => {
  const bare = selector.replace(/\\./gs, '').replace(/"[^"]*"|'[^']*'/g, '');
  const open: string[] = [];
  for (const character of bare) {
    if ('([{'.includes(character)) open.push(character);
    else if (')]}'.includes(character) && open.pop() !== '([{'[')]}'.indexOf(character)]) return false;
  }
  return open.length === 0 && bare.trim() !== '' && !/["'{]/.test(bare);
};

const placement = z
  .strictObject({
    placement_id: text.describe('ID that pages mount'),
    name: named,
    template: optional(z.enum(PLACEMENT_TEMPLATES)).describe(
      `Template of its banners in previews, and on pages if it has a \`selector\`: ${PLACEMENT_TEMPLATES.map((name) => `\`${name}\``).join(', ')}`,
    ),
    selector: optional(
      text.max(300).refine(isSelector, { error: 'expected a CSS selector', params: { tellsGot: true } }),
    ).describe(
      'CSS selector; pages that allow it insert the placement at the first matching element. Default: pages mount it',
    ),
    insert: optional(z.enum(INSERTIONS)).describe(
      '`before` or `after` the element, or `prepend` or `append` inside it; default `after`',
    ),
    paths: optional(
      z
        .array(z.string().max(300).regex(/^[/*]/, { error: "expected a path that begins with '/' or '*'" }))
        .min(1)
        .max(20),
    ).describe('URL paths, such as `/products/*`; `*` matches any characters. Default: all'),
    height_px: optional(z.int().positive().max(2_000)).describe(
      'Height of the box in CSS pixels; default by template: 104 for `strip`, 448 for `hero`, otherwise 344',
    ),
    wide_height_px: optional(z.int().positive().max(2_000)).describe(
      'Height from a box width of 48 rem (usually 768 pixels); default `height_px`, or without it 64 for `strip`, 352 for `hero`, otherwise 344',
    ),
  })
  .superRefine(({ template, selector, ...others }, context) => {
    const problem = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message });
    if (selector !== undefined && template === undefined)
      problem('template', "expected a template: a placement with a 'selector' is drawn with it");
    for (const member of ['insert', 'paths', 'height_px', 'wide_height_px'] as const)
      if (selector === undefined && others[member] !== undefined)
        problem(member, "expected it beside a 'selector' only");
  });

const subscriptionGroup = z.strictObject({
  subscription_group_id: text.describe('ID used by `/users/track`'),
  name: named,
  channel: optional(z.string()).describe('`email` (default) or `sms`'),
});

const retention = z.strictObject({
  events_days: optional(z.int().positive()).describe('Days to keep events and purchases, from their receipt'),
  banner_events_days: optional(z.int().positive()).describe('Days to keep banner events'),
});

/** Schema of the workspace file. Unknown members are errors. */
export const workspaceFile = z.strictObject({
  $schema: optional(z.string()).describe(
    'URL or path of the JSON Schema, for editors; ignored by the service',
  ),
  workspace_id: text.describe('Key of the workspace in the database; do not change it'),
  name: named,
  company_id: optional(text).describe(
    'Workspaces of a company share the shortest window of `limits.users_track`',
  ),
  apps: z.array(app).describe('Apps'),
  api_keys: z.array(apiKey).describe('API keys'),
  placements: optional(z.array(placement)).describe(
    'Placements of your pages; if set, campaigns may only use these',
  ),
  campaigns: optional(z.array(campaignFile)).describe('Campaigns'),
  segments: optional(z.array(segmentFile)).describe(
    'Audiences shared by campaigns; replaced by those of the Studio with `"campaigns_from": "studio"`',
  ),
  campaigns_from: optional(z.enum(['file', 'studio'])).describe(
    'Source of campaigns: `file` (default), or `studio`, where releases of the Studio replace the campaigns of this file',
  ),
  tag_caps: optional(z.array(tagCap)).describe(
    'Maximum campaigns per tag, user and day, in `studio.time_zone`',
  ),
  holdout: optional(holdoutFile).describe('Global holdout: users who get no campaigns'),
  retention: optional(retention).describe('Retention of events; default unlimited'),
  operators: optional(z.array(operatorFile)).describe('Operators of the Studio'),
  studio: optional(studioFile).describe('Studio settings'),
  integrations: optional(z.array(integrationFile)).describe(
    'Integrations listed by `/cdi/integrations`; without it that endpoint returns 404',
  ),
  webhooks: optional(z.array(webhookFile)).describe('Webhooks'),
  subscription_groups: optional(z.array(subscriptionGroup)).describe('Subscription groups'),
  blocked_external_ids: optional(z.array(z.string())).describe('External IDs that `/users/track` rejects'),
  banners: optional(z.boolean()).describe(
    'Whether the banner endpoints are enabled; they return 404 otherwise. Default `true`',
  ),
  banner_poll_seconds: optional(z.int().min(2).max(300)).describe(
    'Interval in seconds at which visible pages with `liveUpdates()` check for changed campaigns. Default: they do not check',
  ),
  limits: optional(limits).describe('Rate limits'),
});
export type WorkspaceFile = z.output<typeof workspaceFile>;
export type AppFile = z.output<typeof app>;

/** Returns the JSON Schema of a workspace file. Uses draft 7, because editors support it best. */
export const workspaceJsonSchema = (): Record<string, unknown> => ({
  title: 'Placard workspace',
  ...z.toJSONSchema(workspaceFile, { io: 'input', target: 'draft-7', unrepresentable: 'any' }),
});

/** Returns the JSON Schema (2020-12) of one campaign. */
export const campaignJsonSchema = (): Record<string, unknown> =>
  z.toJSONSchema(campaignFile, { io: 'input', unrepresentable: 'any' });
