import * as z from 'zod';

const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** Each may do what those before it may. */
export const ROLES = ['view', 'edit', 'publish', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const operatorFile = z.strictObject({
  name: z.string().trim().min(1).max(80),
  role: z.enum(ROLES),
  people: optional(z.boolean()),
  key_sha256: z.string().regex(/^[0-9a-f]{64}$/i, { error: 'expected 64 hexadecimal digits' }),
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
const timeZone = z.string().refine(isTimeZone, { error: 'expected a time zone, such as Europe/Berlin' });

const done = { count: optional(z.int().positive()), last_days_ago: optional(z.number().nonnegative()) };
const persona = z.strictObject({
  name: z.string().trim().min(1).max(80),
  attributes: optional(z.record(z.string(), z.unknown())),
  events: optional(z.array(z.strictObject({ name: z.string().min(1), ...done }))),
  purchases: optional(
    z.array(
      z.strictObject({ product_id: z.string().min(1), revenue: optional(z.number().nonnegative()), ...done }),
    ),
  ),
  subscription_groups: optional(z.record(z.string(), z.enum(['subscribed', 'unsubscribed']))),
});
export type PersonaFile = z.output<typeof persona>;

const isIssuer = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Sign-in through an identity provider, beside the operators' keys. */
const openid = z.strictObject({
  issuer: z.string().refine(isIssuer, { error: 'expected the URL of an issuer, such as https://id.example' }),
  client_id: z.string().min(1),
  client_secret_env: optional(z.string().min(1)),
  role_claim: optional(z.string().min(1)),
  roles: z.record(z.string(), z.enum(ROLES)),
  people: optional(z.array(z.string())),
});

/** What the workspace file says of the Studio. */
export const studioFile = z.strictObject({
  sites: optional(z.array(origin)),
  time_zone: optional(timeZone),
  second_operator: optional(z.boolean()),
  personas: optional(z.array(persona)),
  openid: optional(openid),
});

/** Templates that the Studio can draw a placement's banners with. */
export const PLACEMENT_TEMPLATES = ['strip', 'card', 'hero'] as const;

/** What counts as a success of a campaign, within so long after a user first saw it. */
export const conversionFile = z
  .strictObject({
    event: optional(z.string().min(1)),
    product: optional(z.string().min(1)),
    within_hours: z.number().positive().max(720),
  })
  .refine(({ event, product }) => (event === undefined) !== (product === undefined), {
    error: "expected exactly one of 'event' and 'product'",
  });
