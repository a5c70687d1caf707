import { nearest } from './nearest.ts';

/** What every user may have: `{{${first_name}}}`. */
export const USER_NAMES = [
  'first_name',
  'last_name',
  'dob',
  'date_of_birth',
  'gender',
  'country',
  'home_city',
  'city',
  'language',
  'time_zone',
  'current_location',
  'image_url',
  'email_subscribe',
  'push_subscribe',
  'email_open_tracking_disabled',
  'email_click_tracking_disabled',
  'marked_email_as_spam_at',
  'date_of_first_session',
  'date_of_last_session',
  'facebook',
  'twitter',
  'user_id',
  'external_id',
  'braze_id',
  'email',
  'email_address',
  'phone',
  'phone_number',
] as const satisfies readonly string[];

const DEVICE_NAMES = ['id', 'platform'];
const MARKUP = /\{\{.*?\}\}|\{%.*?%\}/gs;
const NAME = /(?:(\w+)\.)?\$\{([^}]*)\}/g;

const reading = (namespace: string, name: string) => `${namespace}.\${${name}}`;

const meant = (written: string | null) => (written === null ? '' : ` Did you mean ${written}?`);

const wrong = (name: string, what: string, near: string | null) =>
  `“${name}” is no attribute of ${what}: nothing is written there but its default.${meant(near)}`;

const ofUser = (name: string, own: readonly string[]): string | null => {
  if (USER_NAMES.some((each) => each === name)) return null;
  if (own.includes(name))
    return `“${name}” is an attribute of your own: write ${reading('custom_attribute', name)}.`;
  const near = nearest(name, USER_NAMES);
  return wrong(name, 'a user', near && `\${${near}}`);
};

/** Any name may be an attribute of one's own; only one that is all but a known one is probably a slip. */
const ofOwn = (name: string, own: readonly string[]): string | null => {
  const near = own.includes(name) ? null : nearest(name, own);
  return near && `No persona here has the attribute “${name}”.${meant(reading('custom_attribute', near))}`;
};

const ofDevice = (name: string): string | null =>
  DEVICE_NAMES.includes(name) ? null : wrong(name, 'a device', reading('targeted_device', 'platform'));

const hintOfName = (namespace: string | undefined, name: string, own: readonly string[]): string | null => {
  if (namespace === undefined) return ofUser(name, own);
  if (namespace === 'custom_attribute') return ofOwn(name, own);
  if (namespace === 'targeted_device') return ofDevice(name);
  const near = nearest(namespace, ['custom_attribute', 'targeted_device']);
  return `“${namespace}.” is not known, so nothing is written there.${meant(near && reading(near, name))}`;
};

/**
 * What a text reads of a user that nobody has: the service writes nothing there, and a mistyped name looks like a user
 * without it. `own` are the names of custom attributes that are known. `null` where nothing catches the eye.
 */
export const attributeHint = (text: string, own: readonly string[]): string | null => {
  const names = (text.match(MARKUP) ?? []).flatMap((markup) => [...markup.matchAll(NAME)]);
  for (const [, namespace, name = ''] of names) {
    const hint = hintOfName(namespace, name.trim(), own);
    if (hint !== null) return hint;
  }
  return null;
};
