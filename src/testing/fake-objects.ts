import {
  checkIdentity,
  fitsCharacters,
  type InputArray,
  idText,
  isCurrency,
  isPresent,
  isRecord,
  isStorableText,
  MAX_NAME_CHARACTERS,
  MAX_PURCHASE_QUANTITY,
  notValid,
  parseInstant,
  required,
  TRACK_ERROR,
} from '../protocol/index.ts';

/** What is wrong with an object of `users/track`, and whether it is taken all the same. */
export interface Verdict {
  problems: string[];
  isTaken: boolean;
}

type Members = Record<string, unknown>;

const NOBODY_IS_BLOCKED: ReadonlySet<string> = new Set();

const isText = (value: unknown, fits: (text: string) => boolean): boolean =>
  typeof value === 'string' && value !== '' && fits(value) && isStorableText(value);

const judgeIdentity = (object: Members): Verdict => {
  const problems: string[] = [];
  const identity = checkIdentity(object, NOBODY_IS_BLOCKED, { add: (type) => problems.push(type) });
  return { problems, isTaken: identity !== null };
};

/** Tokens that belong to nobody yet need no identifier. */
const judgeAttributes = (object: Members): Verdict => {
  if (object['push_token_import'] !== true) return judgeIdentity(object);
  const { push_tokens, external_id, braze_id, user_alias, email, phone } = object;
  const hasTokens = Array.isArray(push_tokens) && push_tokens.length > 0;
  if (!hasTokens || isPresent(external_id) || isPresent(braze_id)) {
    return { problems: [TRACK_ERROR.badPushTokenImport], isTaken: false };
  }
  return [user_alias, email, phone].some(isPresent) ? judgeIdentity(object) : { problems: [], isTaken: true };
};

const isName = (value: unknown) => isText(value, (name) => fitsCharacters(name, MAX_NAME_CHARACTERS));
const isTime = (value: unknown) => typeof value === 'string' && parseInstant(value) !== null;
const isQuantity = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_PURCHASE_QUANTITY;

/** Members that must be there, in the order in which the service names them. */
const NEEDED: Record<'events' | 'purchases', Record<string, (value: unknown) => boolean>> = {
  events: { name: isName, time: isTime },
  purchases: {
    product_id: (value) => isName(idText(value) ?? value),
    currency: (value) => typeof value === 'string' && isCurrency(value.toUpperCase()),
    price: (value) => Number.isFinite(value),
    quantity: (value) => value === undefined || value === null || isQuantity(value),
    time: isTime,
  },
};

const judgeDoing = (array: 'events' | 'purchases', object: Members): Verdict => {
  const { problems, isTaken } = judgeIdentity(object);
  const faults = Object.entries(NEEDED[array]).flatMap(([name, isSound]) => {
    if (isSound(object[name])) return [];
    return [object[name] === undefined || object[name] === null ? required(name) : notValid(name)];
  });
  return { problems: [...problems, ...faults], isTaken: isTaken && faults.length === 0 };
};

/** Judges identifiers and required members, as the service does. What single attributes and properties hold is let through. */
export const judgeObject = (array: InputArray, object: unknown): Verdict => {
  if (!isRecord(object)) return { problems: [TRACK_ERROR.identifierRequired], isTaken: false };
  return array === 'attributes' ? judgeAttributes(object) : judgeDoing(array, object);
};
