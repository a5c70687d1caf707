import { hash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Store } from '../store/store.ts';

/** What a link shows. It names a persona and no user: everybody with the link can read it. */
export interface Preview {
  campaignId: string;
  /** State of the campaign's draft, in the words of the room that keeps drafts. */
  revision: string;
  /** `null`: the one that the persona would get. */
  variantId: string | null;
  /** `null`: a user without attributes and events. */
  personaId: string | null;
}

/** `invalid`: it is no preview token of this workspace. */
export type PreviewFault = 'invalid' | 'expired';

const ALGORITHM = 'HS256';
const USE = 'placard preview';
const LIFETIME_SECONDS = 30 * 60;

/** A key for this use alone: banner IDs are made with other keys of the same secret. */
const keyOf = (workspaceId: string, secret: string): Uint8Array =>
  Buffer.from(hash('sha256', JSON.stringify([USE, workspaceId, secret]), 'hex'), 'hex');

/** Signs and verifies the tokens of preview links: 30 minutes each, with the workspace's secret in the store. */
export const createPreviewTokens = (store: Pick<Store, 'secret'>) => ({
  /** The token of a link to this preview. */
  async sign(workspaceId: string, preview: Preview, nowMs: number): Promise<string> {
    return new SignJWT({ preview })
      .setProtectedHeader({ alg: ALGORITHM })
      .setAudience(USE)
      .setExpirationTime(Math.floor(nowMs / 1000) + LIFETIME_SECONDS)
      .sign(keyOf(workspaceId, await store.secret(workspaceId)));
  },

  /** The preview that a token stands for, or what is wrong with the token. */
  async verify(workspaceId: string, token: string, nowMs: number): Promise<Preview | PreviewFault> {
    const key = keyOf(workspaceId, await store.secret(workspaceId));
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        audience: USE,
        requiredClaims: ['exp'],
        currentDate: new Date(nowMs),
      });
      // Only `sign` has the key: it is a preview as it was given there.
      return payload['preview'] as Preview;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
    }
  },
});

export type PreviewTokens = ReturnType<typeof createPreviewTokens>;
