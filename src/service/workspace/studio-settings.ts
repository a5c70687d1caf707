import type * as z from 'zod';
import type { operatorFile, Role, studioFile } from './studio-schema.ts';

/** Somebody who may use the Studio. */
export interface Operator {
  name: string;
  role: Role;
  /** May see data of single users. */
  people: boolean;
  /** SHA-256 of the key, 32 bytes; `null` of one whom an identity provider vouches for. */
  hash: Uint8Array | null;
}

/** Sign-in through an identity provider. */
export interface OpenIdSettings {
  issuer: string;
  clientId: string;
  /** The variable of the environment that holds the client's secret; `null` for a public client. */
  secretVariable: string | null;
  /** The claim whose values give roles: a text or a list of texts. */
  roleClaim: string;
  /** By value of the claim; of several the highest counts. */
  roles: Readonly<Record<string, Role>>;
  /** Values of the claim that give the right to people. */
  people: readonly string[];
}

/** How often and when a persona did something: once and now where it is not said. */
interface Done {
  count?: number | undefined;
  last_days_ago?: number | undefined;
}

/** A made-up user, as the workspace file writes them. */
export interface Persona {
  name: string;
  /** As `/users/track` takes them. */
  attributes?: Readonly<Record<string, unknown>> | undefined;
  events?: readonly (Done & { name: string })[] | undefined;
  purchases?: readonly (Done & { product_id: string; revenue?: number | undefined })[] | undefined;
  /** By group ID. */
  subscription_groups?: Readonly<Record<string, 'subscribed' | 'unsubscribed'>> | undefined;
}

/** What a workspace file says of the Studio. */
export interface StudioSettings {
  /** Origins that a draft may be previewed on; paths of links and images are looked up at the first one. */
  sites: readonly string[];
  /** What dates are shown and entered in. */
  timeZone: string;
  /** Who wrote a draft may not publish it. */
  secondOperator: boolean;
  /** The identity provider that vouches for operators; `null` where there is none. */
  openId: OpenIdSettings | null;
  /** Made-up users to look at campaigns as. */
  personas: readonly Persona[];
}

export const operatorOf = ({ name, role, people, key_sha256 }: z.output<typeof operatorFile>): Operator => ({
  name,
  role,
  people: people ?? false,
  hash: Buffer.from(key_sha256, 'hex'),
});

const openIdOf = (openid: z.output<typeof studioFile>['openid']): OpenIdSettings | null =>
  openid
    ? {
        issuer: openid.issuer,
        clientId: openid.client_id,
        secretVariable: openid.client_secret_env ?? null,
        roleClaim: openid.role_claim ?? 'groups',
        roles: openid.roles,
        people: openid.people ?? [],
      }
    : null;

export const studioSettingsOf = (
  file: z.output<typeof studioFile> | Record<string, never>,
): StudioSettings => ({
  sites: file.sites ?? [],
  timeZone: file.time_zone ?? 'UTC',
  secondOperator: file.second_operator ?? false,
  openId: openIdOf(file.openid),
  personas: file.personas ?? [],
});
