import {
  fitsBytes,
  fitsCharacters,
  isStorableText,
  MAX_APP_VERSION_CHARACTERS,
  MAX_EXTERNAL_USER_ID_BYTES,
  notValid,
  required,
} from '../../protocol/index.ts';
import { HttpError } from '../gate/http-error.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** What the bodies of both banner endpoints begin with. */
export interface BannerEnvelope {
  externalUserId: string;
  appId: string;
  appVersion: string;
}

export type Members = Record<string, unknown>;

export const invalid = (name: string) => new HttpError(400, notValid(name));
export const missing = (name: string) => new HttpError(400, required(name));

/** The body as an object of members; a 400 where it is anything else. */
export const membersOf = (body: unknown): Members => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new HttpError(400, 'Request body must be a JSON object');
  }
  return body as Members;
};

/** A member that must be there, as text that is not empty and can be stored. */
const textOf = (members: Members, name: string): string => {
  const value = Object.hasOwn(members, name) ? members[name] : undefined;
  if (value === undefined || value === null || value === '') throw missing(name);
  if (typeof value !== 'string' || !isStorableText(value)) throw invalid(name);
  return value;
};

export const envelopeOf = (members: Members, workspace: Workspace): BannerEnvelope => {
  const externalUserId = textOf(members, 'external_user_id');
  if (!fitsBytes(externalUserId, MAX_EXTERNAL_USER_ID_BYTES)) throw invalid('external_user_id');
  const appId = textOf(members, 'app_id');
  if (!workspace.appIds.has(appId)) throw invalid('app_id');
  const appVersion = textOf(members, 'app_version');
  if (!fitsCharacters(appVersion, MAX_APP_VERSION_CHARACTERS)) throw invalid('app_version');
  return { externalUserId, appId, appVersion };
};
