import { type BannerEnvelope, isRecord, notValid, readEnvelope, required } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
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
