import {
  fitsCharacters,
  isRecord,
  isStorableText,
  MAX_IMAGE_URL_CHARACTERS,
  MAX_STRING_CHARACTERS,
  notValid,
  TRACK_ERROR,
} from '../../protocol/index.ts';
import { parseDate, parseDay } from './dates.ts';
import { findCountryCode, isLanguage, isTimeZone } from './locale.ts';

/** Result of a checker for a value that must not be set. */
const INVALID = Symbol('invalid');
type Checker = (value: unknown) => unknown;

const text =
  (max: number): Checker =>
  (value) =>
    typeof value === 'string' && fitsCharacters(value, max) && isStorableText(value) ? value : INVALID;
const shortText = text(MAX_STRING_CHARACTERS);
const yesOrNo: Checker = (value) => (typeof value === 'boolean' ? value : INVALID);
const date: Checker = (value) => (typeof value === 'string' && parseDate(value) !== null ? value : INVALID);
const createEnumChecker =
  (...values: string[]): Checker =>
  (value) =>
    typeof value === 'string' && values.includes(value) ? value : INVALID;

const birthday: Checker = (value) => (typeof value === 'string' && parseDay(value)) || INVALID;

const isCoordinate = (value: unknown, max: number): value is number =>
  typeof value === 'number' && Math.abs(value) <= max;

const location: Checker = (value) => {
  if (!isRecord(value)) return INVALID;
  const { longitude, latitude } = value;
  return isCoordinate(longitude, 180) && isCoordinate(latitude, 90) ? { longitude, latitude } : INVALID;
};

const integer: Checker = (value) => (Number.isSafeInteger(value) ? value : INVALID);
const texts: Checker = (value) =>
  Array.isArray(value) && value.every((element) => shortText(element) !== INVALID) ? value : INVALID;

/** Returns a checker of an object with any of the named members. It drops other members. */
const account =
  (members: Record<string, Checker>): Checker =>
  (value) => {
    if (!isRecord(value)) return INVALID;
    const kept: Record<string, unknown> = {};
    for (const [name, check] of Object.entries(members)) {
      if (!Object.hasOwn(value, name)) continue;
      if (check(value[name]) === INVALID) return INVALID;
      kept[name] = value[name];
    }
    return kept;
  };

const subscription = createEnumChecker('subscribed', 'unsubscribed', 'opted_in');

/** Standard attributes (contract 3.3), except identifiers, subscription groups and push tokens. */
const STANDARD = new Map<string, Checker>([
  ['first_name', shortText],
  ['last_name', shortText],
  ['dob', birthday],
  ['gender', createEnumChecker('M', 'F', 'O', 'N', 'P')],
  // An unknown country clears the attribute.
  ['country', (value) => (typeof value === 'string' ? findCountryCode(value) : INVALID)],
  ['home_city', shortText],
  ['language', (value) => (typeof value === 'string' && isLanguage(value) ? value : INVALID)],
  ['time_zone', (value) => (typeof value === 'string' && isTimeZone(value) ? value : INVALID)],
  ['current_location', location],
  ['image_url', text(MAX_IMAGE_URL_CHARACTERS)],
  ['email_subscribe', subscription],
  ['push_subscribe', subscription],
  ['email_open_tracking_disabled', yesOrNo],
  ['email_click_tracking_disabled', yesOrNo],
  ['marked_email_as_spam_at', date],
  ['date_of_first_session', date],
  ['date_of_last_session', date],
  ['facebook', account({ id: shortText, likes: texts, num_friends: integer })],
  [
    'twitter',
    account({
      id: integer,
      screen_name: shortText,
      followers_count: integer,
      friends_count: integer,
      statuses_count: integer,
    }),
  ],
]);

/** Error codes of attributes that have a specific code. */
const CODES = new Map<string, string>([
  ['current_location', TRACK_ERROR.badLocationUpdate],
  ['email_subscribe', TRACK_ERROR.badEmailSubscriptionState],
  ['push_subscribe', TRACK_ERROR.badPushSubscriptionState],
]);

/** Attributes for which `null` is invalid. */
const NOT_CLEARED = new Set(['current_location', 'email_subscribe', 'push_subscribe']);

export const STANDARD_NAMES: readonly string[] = [...STANDARD.keys()];

/** Returns the value to set, or the error. The value is `null` to clear the attribute. */
export const checkStandard = (name: string, value: unknown): { value: unknown } | { error: string } => {
  if (value === null && !NOT_CLEARED.has(name)) return { value: null };
  const checked = STANDARD.get(name)?.(value);
  return checked === INVALID ? { error: CODES.get(name) ?? notValid(name) } : { value: checked };
};
