import * as z from 'zod';
import { ROLES, type Role, SUBSCRIPTION_STATES } from '../../protocol/index.ts';
import { type CatalogueName, TEMPLATE_CATALOGUE } from '../../templates/index.ts';
import { optional } from './schema-helpers.ts';

export const operatorFile = z.strictObject({
  name: z.string().trim().min(1).max(80).describe('Name in the history and audit log'),
  role: z.enum(ROLES).describe('`view`, `edit`, `publish` or `admin`; each includes the previous ones'),
  can_view_users: optional(z.boolean()).describe(
    'Whether the operator may view individual users; default `false`',
  ),
  key_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: 'expected 64 hexadecimal digits' })
    .describe('SHA-256 of the key printed by `placard operator create`'),
});

const isOrigin = (text: string) => {
  if (!URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text;
};
const origin = z.string().refine(isOrigin, {
  error: 'expected an origin without a path, such as https://shop.example',
});

const isTimeZone = (name: string) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};
/** Schema of an IANA time zone. */
export const timeZone = z
  .string()
  .refine(isTimeZone, { error: 'expected a time zone, such as Europe/Berlin' });

const done = {
  count: optional(z.int().positive()).describe('Count; default 1'),
  last_days_ago: optional(z.number().nonnegative()).describe('Days since the last time; default 0'),
};
const persona = z.strictObject({
  name: z.string().trim().min(1).max(80).describe('Name in the Studio'),
  attributes: optional(z.record(z.string(), z.unknown())).describe(
    'Standard and custom attributes, as in `/users/track`',
  ),
  events: optional(
    z.array(z.strictObject({ name: z.string().min(1).describe('Name of the event'), ...done })),
  ).describe('Events'),
  purchases: optional(
    z.array(
      z.strictObject({
        product_id: z.string().min(1).describe('ID of the product'),
        revenue: optional(z.number().nonnegative()).describe('Revenue; default 0'),
        ...done,
      }),
    ),
  ).describe('Purchases'),
  subscription_groups: optional(z.record(z.string(), z.enum(SUBSCRIPTION_STATES))).describe(
    '`subscribed` or `unsubscribed` by group ID',
  ),
});

const isIssuer = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Schema of single sign-on, which adds to operator keys. */
const openid = z.strictObject({
  issuer: z
    .string()
    .refine(isIssuer, { error: 'expected the URL of an issuer, such as https://id.example' })
    .describe('Issuer URL'),
  client_id: z.string().min(1).describe('Client ID of the Studio'),
  client_secret_env: optional(z.string().min(1)).describe(
    'Environment variable with the client secret (with suffix `_FILE`: its file); default none',
  ),
  role_claim: optional(z.string().min(1)).describe('Claim with the roles; default `groups`'),
  roles: z.record(z.string(), z.enum(ROLES)).describe('Role by claim value; the highest applies'),
  can_view_users: optional(z.array(z.string())).describe('Claim values that allow viewing individual users'),
});

const environment = z.strictObject({
  name: z.string().trim().min(1).max(80).describe('Name in the Studio, such as `Production`'),
  studio_url: origin.describe('Origin of the other Studio'),
});

/** Schema of the Studio settings in the workspace file. */
export const studioFile = z.strictObject({
  sites: optional(z.array(origin)).describe(
    'Origins of your pages, for preview links; image paths resolve against the first',
  ),
  time_zone: optional(timeZone).describe('Time zone of dates; default `UTC`'),
  require_approval: optional(z.boolean()).describe(
    'Whether drafts must be published by another operator than their author; default `false`',
  ),
  personas: optional(z.array(persona)).describe('Sample users for previews'),
  environments: optional(z.array(environment)).describe('Other Studios to which campaigns can be copied'),
  openid: optional(openid).describe('OpenID Connect sign-in, in addition to keys'),
});

/** Templates available to placements. */
export const PLACEMENT_TEMPLATES = TEMPLATE_CATALOGUE.map(({ name }) => name);
export type PlacementTemplate = CatalogueName;

/** Studio user with a role. */
export interface Operator {
  name: string;
  role: Role;
  /** May view individual users. */
  canViewUsers: boolean;
  /** SHA-256 of the key, 32 bytes; `null` for single sign-on. */
  hash: Uint8Array | null;
}

/** Sign-in through an identity provider. */
export type OpenIdSettings = ReturnType<typeof toOpenIdSettings>;

/** Made-up user in the workspace file. */
export type Persona = z.output<typeof persona>;

/** Parsed Studio settings. */
export interface StudioSettings {
  /** Origins for previews of drafts. Relative links and images resolve against the first. */
  sites: readonly string[];
  /** IANA time zone of dates in the Studio and of daily frequency caps. */
  timeZone: string;
  /** Whether another operator than a draft's authors must publish it. */
  requireApproval: boolean;
  /** Identity provider for single sign-on; `null` if none. */
  openId: OpenIdSettings | null;
  /** Made-up users for previews. */
  personas: readonly Persona[];
  /** Other Studios to which campaigns can be copied. */
  environments: readonly { name: string; studioUrl: string }[];
}

export const toOperator = ({
  name,
  role,
  can_view_users,
  key_sha256,
}: z.output<typeof operatorFile>): Operator => ({
  name,
  role,
  canViewUsers: can_view_users ?? false,
  hash: Buffer.from(key_sha256, 'hex'),
});

const toOpenIdSettings = (file: z.output<typeof openid>) => ({
  issuer: file.issuer,
  clientId: file.client_id,
  /** `null` for a public client. */
  secretVariable: file.client_secret_env ?? null,
  roleClaim: file.role_claim ?? 'groups',
  roles: file.roles,
  canViewUsers: file.can_view_users ?? [],
});

export const toStudioSettings = (
  file: z.output<typeof studioFile> | Record<string, never>,
): StudioSettings => ({
  sites: file.sites ?? [],
  timeZone: file.time_zone ?? 'UTC',
  requireApproval: file.require_approval ?? false,
  openId: file.openid ? toOpenIdSettings(file.openid) : null,
  personas: file.personas ?? [],
  environments: (file.environments ?? []).map(({ name, studio_url }) => ({ name, studioUrl: studio_url })),
});
