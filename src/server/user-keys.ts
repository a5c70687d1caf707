import { comparableEmail, comparablePhone, isPresent, isRecord } from '../protocol/index.ts';

/**
 * Every name by which an object may mean a user. Two objects that share one may concern the same user, so the order
 * between them counts; e-mail and phone belong to it because the service looks users up by them, in any spelling.
 */
export const userKeys = (object: unknown): string[] => {
  if (!isRecord(object)) return [];
  const { external_id, braze_id, user_alias, email, phone } = object;
  const named = (kind: string, value: unknown) => (isPresent(value) ? [`${kind}:${String(value)}`] : []);
  return [
    ...named('external_id', external_id),
    ...named('braze_id', braze_id),
    ...(isRecord(user_alias)
      ? [`alias:${JSON.stringify([user_alias['alias_label'], user_alias['alias_name']])}`]
      : []),
    ...named('email', typeof email === 'string' ? comparableEmail(email) : email),
    ...named('phone', typeof phone === 'string' ? comparablePhone(phone) : phone),
  ];
};
