import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  timingSafeEqual,
} from 'node:crypto';
import type { NewBannerEvent } from '../profiles/events.ts';
import type { Store } from '../store/store.ts';

const PREFIX = 'bnr_';
const TAG_BYTES = 16;
/** The end of an ID says for whom it was sealed: 48 bits, which is as good as a guess in 10^14. */
const MARK_CHARACTERS = 8;
/** IDs repeat from sync to sync and from event to event; this many of the latest are kept, either way. */
const MAX_KEPT = 10_000;

/** What a banner's ID stands for. The same facts always give the same ID. */
export type BannerFacts = Pick<
  NewBannerEvent,
  'campaignId' | 'variantId' | 'placementId' | 'round' | 'isControl' | 'isTestSend' | 'language'
>;

export interface BannerIds {
  /** The ID that a sync answers this user. */
  seal(facts: BannerFacts, externalId: string): string;
  /** `null` where the ID was not sealed with this workspace's secret. */
  open(id: string): BannerFacts | null;
  /** Whether an ID that opens was sealed for this user. */
  isFor(id: string, externalId: string): boolean;
}

/** An ID without its end: what stands for the banner alone, and is the same for all users. */
export const stripUserTag = (id: string) => id.slice(0, -MARK_CHARACTERS);

const keep = <T>(kept: Map<string, T>, name: string, value: T) => {
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(name, value);
};

/**
 * Banner IDs that carry their own meaning: opened without a look-up, also when the campaign has left the file. No
 * one else can read or make them. The facts are encrypted under a nonce that is their own keyed hash (the idea
 * of RFC 5297): equal facts make equal IDs, and a changed ID opens to facts whose hash does not fit. The user's mark at the end
 * shows later that a sync has named this user, though a sync stores nothing.
 */
export const createBannerIds = (workspaceId: string, secret: string): BannerIds => {
  const keyFor = (use: string) =>
    hash('sha256', JSON.stringify(['placard banner id', use, workspaceId, secret]), 'hex');
  // Key objects: OpenSSL would import the bytes again for each of the thousand IDs that a request may have.
  const macKey = createSecretKey(keyFor('mac'), 'hex');
  const cipherKey = createSecretKey(keyFor('cipher'), 'hex');
  const markKey = Buffer.from(keyFor('mark'), 'hex').toString('base64url');
  const sealed = new Map<string, string>();
  const marks = new Map<string, string>();
  const opened = new Map<string, BannerFacts>();

  const tagOf = (text: Buffer) => createHmac('sha256', macKey).update(text).digest().subarray(0, TAG_BYTES);

  const markOf = (externalId: string): string => {
    const known = marks.get(externalId);
    if (known !== undefined) return known;
    // A few of its characters: nobody can go on from there to the hash of a longer ID.
    const mark = hash('sha256', markKey + externalId, 'base64url').slice(0, MARK_CHARACTERS);
    keep(marks, externalId, mark);
    return mark;
  };

  const read = (id: string): BannerFacts | null => {
    if (!id.startsWith(PREFIX)) return null;
    const bytes = Buffer.from(id.slice(PREFIX.length), 'base64url');
    // The decoder passes over what is not base64url: only the one spelling that was sealed counts.
    if (bytes.length <= TAG_BYTES || PREFIX + bytes.toString('base64url') !== id) return null;
    const tag = bytes.subarray(0, TAG_BYTES);
    const text = createDecipheriv('aes-256-ctr', cipherKey, tag).update(bytes.subarray(TAG_BYTES));
    if (!timingSafeEqual(tagOf(text), tag)) return null;
    const sealed: [string, string | null, string, number, 0 | 1, 0 | 1, string?] = JSON.parse(
      text.toString(),
    );
    const [campaignId, variantId, placementId, round, isControl, isTestSend, language = null] = sealed;
    return {
      campaignId,
      variantId,
      placementId,
      round,
      isControl: isControl === 1,
      isTestSend: isTestSend === 1,
      language,
    };
  };

  return {
    seal: ({ campaignId, variantId, placementId, round, isControl, isTestSend, language }, externalId) => {
      const banner = [campaignId, variantId, placementId, round, +isControl, +isTestSend];
      // Without a language it is the ID that it was before there were languages.
      const facts = JSON.stringify(language === null ? banner : [...banner, language]);
      const known = sealed.get(facts);
      if (known !== undefined) return known + markOf(externalId);
      const text = Buffer.from(facts);
      const tag = tagOf(text);
      const id =
        PREFIX +
        Buffer.concat([tag, createCipheriv('aes-256-ctr', cipherKey, tag).update(text)]).toString(
          'base64url',
        );
      keep(sealed, facts, id);
      return id + markOf(externalId);
    },
    open: (id) => {
      const known = opened.get(stripUserTag(id));
      if (known) return known;
      const facts = read(stripUserTag(id));
      if (facts) keep(opened, stripUserTag(id), facts);
      return facts;
    },
    isFor: (id, externalId) => id.endsWith(markOf(externalId)),
  };
};

/** The banner IDs of a workspace, by its ID. */
export type BannerIdsOf = (workspaceId: string) => Promise<BannerIds>;

/** Makes them from each workspace's secret, and anew where the store has another one. */
export const workspaceBannerIds = (store: Store): BannerIdsOf => {
  const known = new Map<string, { secret: string; ids: BannerIds }>();
  return async (workspaceId) => {
    const secret = await store.secret(workspaceId);
    let kept = known.get(workspaceId);
    if (kept?.secret !== secret) {
      kept = { secret, ids: createBannerIds(workspaceId, secret) };
      known.set(workspaceId, kept);
    }
    return kept.ids;
  };
};
