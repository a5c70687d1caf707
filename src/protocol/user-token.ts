/** Ours: a page joins a visitor with the user who has signed in. */
export const VISITOR_JOIN_PATH = '/placard/visitors/join';

/**
 * ID of a visitor without an account, in place of a user's: 122 random bits that no one else can guess, so the ID itself
 * proves the visitor. Browsers make it; the host must give no user an ID of this form.
 */
const VISITOR_ID = /^placard-visitor-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const isVisitorId = (userId: string): boolean => VISITOR_ID.test(userId);

/**
 * Proof of the user: a JWT that the host's backend signs. It is a member of the body of the banner endpoints, not a
 * header. Other servers ignore members that they do not know; but a browser sends a header to another origin only where
 * that server's CORS answer names it.
 */
export const USER_TOKEN_MEMBER = 'user_token';

/** A 401 with this header is about the user token; its value is the fault. Without it a 401 is about the key. */
export const USER_TOKEN_HEADER = 'Placard-User-Token';

export const USER_TOKEN_ALGORITHMS = ['EdDSA', 'ES256', 'RS256'] as const;
export type UserTokenAlgorithm = (typeof USER_TOKEN_ALGORITHMS)[number];

/** Why a user token was refused. */
export type UserTokenFault =
  /** The app needs one, and none was sent. */
  | 'missing'
  /** It is not a JWT of at most `MAX_USER_TOKEN_CHARACTERS`. */
  | 'malformed'
  /** Its `alg` is none of `USER_TOKEN_ALGORITHMS`. */
  | 'wrong_algorithm'
  /** The app has no key of this algorithm and `kid`. */
  | 'unknown_key'
  | 'bad_signature'
  | 'expired'
  /** `nbf` or `iat` is in the future. */
  | 'not_yet_valid'
  /** `exp` is more than `MAX_USER_TOKEN_SECONDS` away. */
  | 'expires_too_late'
  /** `sub`, `exp` or `aud` is missing, or a claim has the wrong type. */
  | 'bad_claim'
  /** `aud` is not the `app_id` of the request. */
  | 'wrong_app'
  /** `sub` is not the `external_user_id` of the request. */
  | 'wrong_user';

export const MAX_USER_TOKEN_CHARACTERS = 4_096;
export const MAX_USER_TOKEN_SECONDS = 30 * 24 * 60 * 60;
