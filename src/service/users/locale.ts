import { memoize } from '../memoize.ts';

/** Rails time zone names, except names that are also IANA names. */
const RAILS_TIME_ZONES: ReadonlySet<string> = new Set(
  `International Date Line West|Midway Island|American Samoa|Hawaii|Alaska|Pacific Time (US & Canada)|Tijuana|
Mountain Time (US & Canada)|Arizona|Chihuahua|Mazatlan|Central Time (US & Canada)|Saskatchewan|Guadalajara|
Mexico City|Monterrey|Central America|Eastern Time (US & Canada)|Indiana (East)|Bogota|Lima|Quito|
Atlantic Time (Canada)|Caracas|La Paz|Santiago|Newfoundland|Brasilia|Buenos Aires|Montevideo|Georgetown|
Puerto Rico|Greenland|Mid-Atlantic|Azores|Cape Verde Is.|Dublin|Edinburgh|Lisbon|London|Casablanca|Monrovia|
Belgrade|Bratislava|Budapest|Ljubljana|Prague|Sarajevo|Skopje|Warsaw|Zagreb|Brussels|Copenhagen|Madrid|Paris|
Amsterdam|Berlin|Bern|Zurich|Rome|Stockholm|Vienna|West Central Africa|Bucharest|Cairo|Helsinki|Kyiv|Riga|Sofia|
Tallinn|Vilnius|Athens|Istanbul|Minsk|Jerusalem|Harare|Pretoria|Kaliningrad|Moscow|St. Petersburg|Volgograd|
Samara|Kuwait|Riyadh|Nairobi|Baghdad|Tehran|Abu Dhabi|Muscat|Baku|Tbilisi|Yerevan|Kabul|Ekaterinburg|Islamabad|
Karachi|Tashkent|Chennai|Kolkata|Mumbai|New Delhi|Kathmandu|Dhaka|Sri Jayawardenepura|Almaty|Astana|Novosibirsk|
Rangoon|Bangkok|Hanoi|Jakarta|Krasnoyarsk|Beijing|Chongqing|Hong Kong|Urumqi|Kuala Lumpur|Singapore|Taipei|Perth|
Irkutsk|Ulaanbaatar|Seoul|Osaka|Sapporo|Tokyo|Yakutsk|Darwin|Adelaide|Canberra|Melbourne|Sydney|Brisbane|Hobart|
Vladivostok|Guam|Port Moresby|Magadan|Srednekolymsk|Solomon Is.|New Caledonia|Fiji|Kamchatka|Marshall Is.|
Auckland|Wellington|Nuku'alofa|Tokelau Is.|Chatham Is.|Samoa`
    .replaceAll('\n', '')
    .split('|'),
);

const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const languageNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Two-letter codes that are not countries, such as unions, parts of a country, and codes for private use. */
const NO_COUNTRIES = new Set('EU EZ UN QO XA XB ZZ UK AC CP CQ DG EA IC TA'.split(' '));
/** Common country names that `Intl.DisplayNames` lacks. */
const OTHER_NAMES: Record<string, string> = {
  'united states of america': 'US',
  usa: 'US',
  uk: 'GB',
  'great britain': 'GB',
  england: 'GB',
  'south korea': 'KR',
  'republic of korea': 'KR',
  'russian federation': 'RU',
  'czech republic': 'CZ',
  turkey: 'TR',
  'viet nam': 'VN',
  'the netherlands': 'NL',
  holland: 'NL',
  'ivory coast': 'CI',
  burma: 'MM',
};

/**
 * Whether a code is in use. Returns `false` for a withdrawn code, such as DD for East Germany, to which `Intl` gives the name of
 * its successor.
 */
const isInUse = (code: string): boolean => new Intl.Locale(`und-${code}`).region === code;

/**
 * Returns the spellings of a country name: the name in `Intl`, and the name with "and" for "&", with "Saint" for "St.", and
 * without "SAR China".
 */
const writtenAs = (name: string): string[] => {
  const plain = name.toLowerCase();
  return [
    plain,
    plain.replace(' & ', ' and '),
    plain.replace(/^st\. /, 'saint '),
    plain.replace(' sar china', ''),
  ];
};

const codesByName = new Map<string, string>(Object.entries(OTHER_NAMES));
const codes = new Set<string>();
for (const first of LETTERS) {
  for (const second of LETTERS) {
    const code = first + second;
    const name = NO_COUNTRIES.has(code) ? undefined : regionNames.of(code);
    if (name === undefined || !isInUse(code)) continue;
    codes.add(code);
    for (const text of writtenAs(name)) if (!codesByName.has(text)) codesByName.set(text, code);
  }
}

/** Returns the ISO 3166-1 alpha-2 code of a country code or English name. Returns `null` for any other text. */
export const findCountryCode = (text: string): string | null => {
  const name = text.trim();
  const code = name.toUpperCase();
  return codes.has(code) ? code : (codesByName.get(name.toLowerCase()) ?? null);
};

/** Whether a text is an ISO 639-1 language with an optional region, such as `en` or `en-IN`. */
export const isLanguage = (text: string): boolean =>
  /^[A-Za-z]{2}([-_]([A-Za-z]{2}|[A-Za-z]{4}|\d{3}))*$/.test(text) &&
  languageNames.of(text.slice(0, 2).toLowerCase()) !== undefined;

const isIanaZone = (text: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{1,63}$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    // The constructor throws if the zone is unknown. No other check exists.
    return false;
  }
};

const isKnownZone = memoize((text: string) => RAILS_TIME_ZONES.has(text) || isIanaZone(text), 1_000);

/** Whether a text is an IANA or Rails time zone name. */
export const isTimeZone = (text: string): boolean => text.length <= 64 && isKnownZone(text);
