import * as z from 'zod';
import {
  type BannerEnvelope,
  isRecord,
  MAX_USER_TOKEN_CHARACTERS,
  notValid,
  readEnvelope,
  required,
} from '../../protocol/index.ts';
import { HttpError } from '../http/exchange.ts';
import type { Workspace } from '../workspace/workspace.ts';

export type Members = Record<string, unknown>;

export const invalid = (name: string) => new HttpError(400, notValid(name));
export const missing = (name: string) => new HttpError(400, required(name));

/** The body as an object of members; a 400 where it is anything else. */
export const membersOf = (body: unknown): Members => {
  if (!isRecord(body)) throw new HttpError(400, 'Request body must be a JSON object');
  return body;
};

export const envelopeOf = (members: Members, workspace: Workspace): BannerEnvelope => {
  const envelope = readEnvelope(members, (appId) => workspace.appIds.has(appId));
  if (typeof envelope === 'string') throw new HttpError(400, envelope);
  return envelope;
};

/** With which the examples of these endpoints begin. */
export const ENVELOPE_EXAMPLE = {
  external_user_id: 'u-771',
  app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
  app_version: '4.2.0',
};

/** Ours: other servers ignore it. */
export const userToken = z
  .string()
  .max(MAX_USER_TOKEN_CHARACTERS)
  .optional()
  .describe("Proof of the user, where the app takes it: a JWT that the host's backend signs.");
