import type * as z from 'zod';
import type { operatorFile, PersonaFile, Role, studioFile } from './studio-schema.ts';

/** Somebody who may use the Studio. */
export interface Operator {
  name: string;
  role: Role;
  /** May see data of single users. */
  people: boolean;
  /** SHA-256 of the key, 32 bytes. */
  hash: Uint8Array;
}

/** What a workspace file says of the Studio. */
export interface StudioSettings {
  /** Origins that a draft may be previewed on; paths of links and images are looked up at the first one. */
  sites: readonly string[];
  /** What dates are shown and entered in. */
  timeZone: string;
  /** Who wrote a draft may not publish it. */
  secondOperator: boolean;
  /** Made-up users to look at campaigns as. */
  personas: readonly PersonaFile[];
}

export const operatorOf = ({ name, role, people, key_sha256 }: z.output<typeof operatorFile>): Operator => ({
  name,
  role,
  people: people ?? false,
  hash: Buffer.from(key_sha256, 'hex'),
});

export const studioSettingsOf = (
  file: z.output<typeof studioFile> | Record<string, never>,
): StudioSettings => ({
  sites: file.sites ?? [],
  timeZone: file.time_zone ?? 'UTC',
  secondOperator: file.second_operator ?? false,
  personas: file.personas ?? [],
});
