import * as z from 'zod';
import { CLIENT_PERMISSIONS, INSERTIONS, SERVER_PERMISSIONS } from '../../protocol/index.ts';
import { campaignFile, holdoutFile, segmentFile, tagCap } from './campaign-schema.ts';
import { integrationFile } from './integration-schema.ts';
import { limits } from './limits.ts';
import { named, optional, text } from './schema-helpers.ts';
import { operatorFile, PLACEMENT_TEMPLATES, studioFile } from './studio-settings.ts';
import { webhookFile } from './webhook-schema.ts';

const app = z.strictObject({
  app_id: text.describe('What a client sends as `appId`'),
  name: named,
  platform: optional(z.string()).describe('Platform of the app, such as `web`; a text may print it'),
  user_tokens: optional(z.enum(['off', 'optional', 'required'])).describe(
    'Proof of the user: `off` (default), `optional` (a token that is sent must hold) or `required`',
  ),
  user_token_keys: optional(z.array(z.union([z.string(), z.record(z.string(), z.unknown())]))).describe(
    'Public keys that verify user tokens: a PEM as text, a JWK or a JWKS as an object',
  ),
  user_token_keys_file: optional(text).describe(
    'File with such keys, relative to this one: a JWKS, a JWK, or one PEM or several; read again when it changes',
  ),
  visitors: optional(z.boolean()).describe(
    '`true`: visitors without an account need no token where `user_tokens` is `required`; default `false`',
  ),
});

/** Valid in an `Authorization` header: no space, no leading quote, at most 1,024 characters with `Bearer`. */
const presentable = z.string().regex(/^(?!["'])[\x21-\x7e\xa1-\xff]{1,1017}$/, {
  error: 'expected 1 to 1017 characters that a header can carry, without spaces or a quote in front',
});

const apiKey = z
  .strictObject({
    name: named,
    type: z
      .enum(['client', 'server'])
      .describe('`client` is public, for pages; `server` is secret, for backends'),
    key: optional(presentable).describe('The key itself; write either this or `key_sha256`'),
    key_sha256: optional(
      z.string().regex(/^[0-9a-f]{64}$/i, { error: 'expected 64 hexadecimal digits', abort: true }),
    ).describe('The SHA-256 of the key, in 64 hexadecimal digits'),
    permissions: z
      .array(z.enum([...CLIENT_PERMISSIONS, ...SERVER_PERMISSIONS]))
      .describe('What the key may do; a client key may have only the two that begin with `banners.`'),
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
 * Rejects braces, which would end a CSS rule, and unclosed brackets or quotes. Only a page can tell whether the selector matches.
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
    placement_id: text.describe('What a page mounts'),
    name: named,
    template: optional(z.enum(PLACEMENT_TEMPLATES)).describe(
      'The template that draws its banners, in previews of the Studio and where there is a `selector`: `strip`, `card`, `hero`, `countdown` or `choice`',
    ),
    selector: optional(
      text.max(300).refine(isSelector, { error: 'expected a CSS selector', params: { tellsGot: true } }),
    ).describe(
      'CSS selector: pages that allow it insert the placement at the first element that it finds; default: pages mount it',
    ),
    insert: optional(z.enum(INSERTIONS)).describe(
      '`before` or `after` that element, or `prepend` or `append` inside it; default `after`',
    ),
    paths: optional(
      z
        .array(z.string().max(300).regex(/^[/*]/, { error: "expected a path that begins with '/' or '*'" }))
        .min(1)
        .max(20),
    ).describe('Paths of the site that it is for, such as `/products/*`; `*` is any characters; default all'),
    height_px: optional(z.int().positive().max(2_000)).describe(
      'Height of its box in CSS pixels; default what the template needs: 104 for `strip`, 448 for `hero`, else 344',
    ),
    wide_height_px: optional(z.int().positive().max(2_000)).describe(
      'Its height where the box is 48 rem wide or wider, as a rule 768 pixels; default `height_px`, and without that 64 for `strip`, 352 for `hero`, else 344',
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
  subscription_group_id: text.describe('What `/users/track` names'),
  name: named,
  channel: optional(z.string()).describe('`email` (default) or `sms`'),
});

const retention = z.strictObject({
  events_days: optional(z.int().positive()).describe('Days that events and purchases are kept'),
  banner_events_days: optional(z.int().positive()).describe(
    'Days that impressions, clicks and dismissals are kept',
  ),
});

/** Workspace file. Unknown members are errors. */
export const workspaceFile = z.strictObject({
  $schema: optional(z.string()).describe(
    'JSON Schema of this file, for your editor; the service does not read it',
  ),
  workspace_id: text.describe(
    'ID by which the database finds what belongs to the workspace: do not change it',
  ),
  name: named,
  company_id: optional(text).describe(
    'Workspaces of one company share the shortest window of `limits.users_track`',
  ),
  apps: z.array(app).describe('Apps that may ask for banners'),
  api_keys: z.array(apiKey).describe('Keys to the API'),
  placements: optional(z.array(placement)).describe(
    'Slots of your pages; with this list, campaigns may name no others',
  ),
  campaigns: optional(z.array(campaignFile)).describe('What users see'),
  segments: optional(z.array(segmentFile)).describe(
    'Audiences with a name, which campaigns share; with `"campaigns_from": "studio"` those of the Studio take their place',
  ),
  campaigns_from: optional(z.enum(['file', 'studio'])).describe(
    '`file` (default): the campaigns are those of this file; `studio`: releases of the Studio take their place',
  ),
  tag_caps: optional(z.array(tagCap)).describe(
    'How many campaigns of a tag one user gets a day; days are those of `studio.time_zone`',
  ),
  holdout: optional(holdoutFile).describe('Users who get no campaign, to learn what all of them bring about'),
  retention: optional(retention).describe('How long events are kept; default for ever'),
  operators: optional(z.array(operatorFile)).describe('Who may use the Studio'),
  studio: optional(studioFile).describe('Settings of the Studio'),
  integrations: optional(z.array(integrationFile)).describe(
    'What `/cdi/integrations` lists; without it that endpoint answers 404',
  ),
  webhooks: optional(z.array(webhookFile)).describe('Receivers of events'),
  subscription_groups: optional(z.array(subscriptionGroup)).describe('Groups that users subscribe to'),
  blocked_external_ids: optional(z.array(z.string())).describe(
    'External IDs whose objects `/users/track` refuses',
  ),
  banners: optional(z.boolean()).describe('`false`: the banner endpoints answer 404; default `true`'),
  limits: optional(limits).describe('How many requests each endpoint takes'),
});
export type WorkspaceFile = z.output<typeof workspaceFile>;
export type AppFile = z.output<typeof app>;

/** Returns the JSON Schema of a workspace file, from the schema that validates it. Draft 7, which editors support best. */
export const workspaceJsonSchema = (): Record<string, unknown> => ({
  title: 'Placard workspace',
  ...z.toJSONSchema(workspaceFile, { io: 'input', target: 'draft-7', unrepresentable: 'any' }),
});

/** Returns the JSON Schema (2020-12) of one campaign. */
export const campaignJsonSchema = (): Record<string, unknown> =>
  z.toJSONSchema(campaignFile, { io: 'input', unrepresentable: 'any' });
