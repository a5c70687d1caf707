/** Placard extension: merges a visitor into a signed-in user. */
export const VISITOR_JOIN_PATH = '/placard/visitors/join';

/**
 * ID of a visitor without an account, used as the user ID. It has 122 random bits and cannot be guessed, so the ID authenticates
 * the visitor. Browsers generate it; the host must not assign IDs of this form.
 */
const VISITOR_ID = /^placard-visitor-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const isVisitorId = (userId: string): boolean => VISITOR_ID.test(userId);

/**
 * User token: a JWT signed by the host's backend. Sent as a property of the body instead of a header, because browsers send a
 * header to another origin only if its CORS response allows it, and other servers ignore unknown properties.
 */
export const USER_TOKEN_MEMBER = 'user_token';

/** Response header of a 401 caused by the user token; its value is the fault. A 401 without this header is caused by the key. */
export const USER_TOKEN_HEADER = 'Placard-User-Token';

export const USER_TOKEN_ALGORITHMS = ['EdDSA', 'ES256', 'RS256'] as const;
export type UserTokenAlgorithm = (typeof USER_TOKEN_ALGORITHMS)[number];

/** Reason that a user token was rejected. */
export type UserTokenFault =
  /** The app requires a token, and none was sent. */
  | 'missing'
  /** Not a JWT of at most `MAX_USER_TOKEN_CHARACTERS`. */
  | 'malformed'
  /** `alg` is not in `USER_TOKEN_ALGORITHMS`. */
  | 'wrong_algorithm'
  /** The app has no key with this algorithm and `kid`. */
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
