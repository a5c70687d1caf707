import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  timingSafeEqual,
} from 'node:crypto';
import { memoize } from '../memoize.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import type { Store } from '../store/store.ts';

const PREFIX = 'bnr_';
const MAC_BYTES = 16;
/** Length of the user tag at the end of an ID. With 48 bits, one guess in 10^14 succeeds. */
const USER_TAG_CHARACTERS = 8;
/** Number of cached IDs and user tags. They repeat between events. */
const CACHED_IDS = 10_000;

/** Content of a banner ID. Equal content always produces equal IDs. */
export type BannerIdPayload = Pick<
  NewBannerEvent,
  'campaignId' | 'variantId' | 'placementId' | 'round' | 'isControl' | 'isTestSend' | 'language'
>;

export interface BannerIds {
  /** Returns the ID that a sync sends to this user: the encrypted content and the user tag. */
  encode(payload: BannerIdPayload, externalId: string): string;
  /** Returns the encrypted content, which is the same for all users. */
  encrypt(payload: BannerIdPayload): string;
  getUserTag(externalId: string): string;
  /** Returns the content of an ID; `null` if the ID was not encoded with this workspace's secret. */
  decode(id: string): BannerIdPayload | null;
  /** Whether a valid ID was issued to this user. */
  isIssuedTo(id: string, externalId: string): boolean;
}

/** Returns an ID without its user tag. The result is the same for all users. */
export const stripUserTag = (id: string) => id.slice(0, -USER_TAG_CHARACTERS);

/**
 * Creates self-contained, encrypted banner IDs. They can be decoded without a lookup, even if the campaign is no longer in the
 * file, and cannot be forged. The nonce is a keyed hash of the content (as in RFC 5297), so equal content produces equal IDs, and
 * a modified ID fails the hash check. The user tag at the end proves that a sync returned the ID to this user, although syncs
 * store nothing.
 */
export const createBannerIds = (workspaceId: string, secret: string): BannerIds => {
  const keyFor = (use: string) =>
    hash('sha256', JSON.stringify(['placard banner id', use, workspaceId, secret]), 'hex');
  // Uses key objects, because OpenSSL would import raw bytes again for each of up to a thousand IDs of a request.
  const macKey = createSecretKey(keyFor('mac'), 'hex');
  const cipherKey = createSecretKey(keyFor('cipher'), 'hex');
  // `mark` stands for the user tag. Renaming it would change all IDs.
  const userTagKey = Buffer.from(keyFor('mark'), 'hex').toString('base64url');

  const createMac = (text: Buffer) =>
    createHmac('sha256', macKey).update(text).digest().subarray(0, MAC_BYTES);

  const getUserTag = memoize(
    // Truncation prevents length extension of the hash.
    (externalId: string) =>
      hash('sha256', userTagKey + externalId, 'base64url').slice(0, USER_TAG_CHARACTERS),
    CACHED_IDS,
  );

  const encrypt: BannerIds['encrypt'] = (payload) => {
    const { campaignId, variantId, placementId, round, isControl, isTestSend, language } = payload;
    const banner = [campaignId, variantId, placementId, round, +isControl, +isTestSend];
    // Omits a `null` language, so that IDs from before the introduction of languages stay valid.
    const text = Buffer.from(JSON.stringify(language === null ? banner : [...banner, language]));
    const mac = createMac(text);
    const encrypted = createCipheriv('aes-256-ctr', cipherKey, mac).update(text);
    return PREFIX + Buffer.concat([mac, encrypted]).toString('base64url');
  };

  const decrypt = memoize((id: string): BannerIdPayload | null => {
    if (!id.startsWith(PREFIX)) return null;
    const bytes = Buffer.from(id.slice(PREFIX.length), 'base64url');
    // Accepts only the canonical encoding, because the decoder skips invalid base64url characters.
    if (bytes.length <= MAC_BYTES || PREFIX + bytes.toString('base64url') !== id) return null;
    const mac = bytes.subarray(0, MAC_BYTES);
    const text = createDecipheriv('aes-256-ctr', cipherKey, mac).update(bytes.subarray(MAC_BYTES));
    if (!timingSafeEqual(createMac(text), mac)) return null;
    const members: [string, string | null, string, number, 0 | 1, 0 | 1, string?] = JSON.parse(
      text.toString(),
    );
    const [campaignId, variantId, placementId, round, isControl, isTestSend, language = null] = members;
    return {
      campaignId,
      variantId,
      placementId,
      round,
      isControl: isControl === 1,
      isTestSend: isTestSend === 1,
      language,
    };
  }, CACHED_IDS);

  return {
    encode: (payload, externalId) => encrypt(payload) + getUserTag(externalId),
    encrypt,
    getUserTag,
    decode: (id) => decrypt(stripUserTag(id)),
    isIssuedTo: (id, externalId) => id.endsWith(getUserTag(externalId)),
  };
};

/** Returns the banner IDs of a workspace. */
export type GetBannerIds = (workspaceId: string) => Promise<BannerIds>;

/** Returns a function that creates the banner IDs of a workspace from its secret once. */
export const createGetBannerIds = (store: Store): GetBannerIds => {
  const cache = new Map<string, BannerIds>();
  return async (workspaceId) => {
    let ids = cache.get(workspaceId);
    if (!ids) {
      ids = createBannerIds(workspaceId, await store.ensureWorkspace(workspaceId));
      cache.set(workspaceId, ids);
    }
    return ids;
  };
};
