import { MAX_EMAIL_CHARACTERS } from './limits.ts';
import { fitsCharacters, isStorableText } from './text.ts';

const EMAIL = /^[^@\s]+@[^@\s][^@\s.]*\.[^@\s]+$/;
const PHONE = /^\+?[1-9]\d{6,14}$/;
const MAX_PHONE_CHARACTERS = 64;

/** Normalizes an email address for comparison (lower case). The original is stored. */
export const comparableEmail = (email: string): string => email.toLowerCase();

/** Normalizes a phone number for comparison, by removing separators. */
export const comparablePhone = (phone: string): string => phone.replaceAll(/[\s\-()]/g, '');

export const isEmail = (value: unknown): value is string =>
  typeof value === 'string' &&
  fitsCharacters(value, MAX_EMAIL_CHARACTERS) &&
  EMAIL.test(value) &&
  isStorableText(value);

export const isPhone = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_PHONE_CHARACTERS && PHONE.test(comparablePhone(value));

/** States of a user in a subscription group. */
export const SUBSCRIPTION_STATES = ['subscribed', 'unsubscribed'] as const;
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number];
export const isSubscriptionState = (value: unknown): value is SubscriptionState =>
  SUBSCRIPTION_STATES.some((state) => state === value);
