type Filter = Record<string, unknown>;

const isFilter = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const plain = (name: string) => name.replaceAll('_', ' ');

/** A text that looks like something else: the number 10115 and the text “10115” are two values, and match other people. */
const LIKE_ANOTHER = /^(?:-?\d[\d.]*|true|false|yes|no)$/i;

const value = (raw: unknown): string => {
  if (typeof raw === 'string') return LIKE_ANOTHER.test(raw) ? `the text “${raw}”` : plain(raw);
  if (Array.isArray(raw)) return raw.map(value).join(' or ');
  return raw === true ? 'yes' : raw === false ? 'no' : JSON.stringify(raw);
};

const times = (count: unknown) => (count === 1 ? 'once' : count === 2 ? 'twice' : `${value(count)} times`);
const days = (count: unknown) => (count === 1 ? 'day' : `${value(count)} days`);

/** What somebody did, from a path such as `events.viewed_product` or `purchases.teapot`. */
const deed = (kind: string, name: string) =>
  kind === 'purchases' ? `bought “${plain(name)}”` : `did “${plain(name)}”`;

const doneWords = (kind: string, name: string, measure: string, operator: string, operand: unknown) => {
  const did = deed(kind, name);
  const asked = `${measure} ${operator}`;
  if (asked === 'count $gte') return operand === 1 ? did : `${did} ${times(operand)} or more`;
  if (asked === 'count $gt') return operand === 0 ? did : `${did} more than ${times(operand)}`;
  if (asked === 'count $lte') return `${did} ${times(operand)} at most`;
  if (asked === 'count $eq') return operand === 0 ? `never ${did}` : `${did} exactly ${times(operand)}`;
  if (asked === 'count $exists') return operand ? did : `never ${did}`;
  if (asked === 'last_days_ago $lte' || asked === 'last_days_ago $lt') {
    return `${did} in the last ${days(operand)}`;
  }
  if (asked === 'last_days_ago $gte' || asked === 'last_days_ago $gt') {
    return `${did}, but not in the last ${days(operand)}`;
  }
  if (asked === 'first_days_ago $lte') return `${did} for the first time in the last ${days(operand)}`;
  return null;
};

const COMPARISONS: Readonly<Record<string, (name: string, operand: unknown) => string>> = {
  $eq: (name, operand) => `${name} is ${value(operand)}`,
  $ne: (name, operand) => `${name} is not ${value(operand)}`,
  $gt: (name, operand) => `${name} is above ${value(operand)}`,
  $gte: (name, operand) => `${name} is ${value(operand)} or more`,
  $lt: (name, operand) => `${name} is below ${value(operand)}`,
  $lte: (name, operand) => `${name} is ${value(operand)} or less`,
  $veq: (name, operand) => `${name} is version ${String(operand)}`,
  $vgt: (name, operand) => `${name} is later than version ${String(operand)}`,
  $vgte: (name, operand) => `${name} is version ${String(operand)} or later`,
  $vlt: (name, operand) => `${name} is before version ${String(operand)}`,
  $vlte: (name, operand) => `${name} is version ${String(operand)} or before`,
  $ini: (name, operand) => `${name} is ${value(operand)}, in capitals or not`,
  $in: (name, operand) => `${name} is ${value(operand)}`,
  $nin: (name, operand) => `${name} is none of ${value(operand)}`,
  $exists: (name, operand) => `${name} is ${operand ? 'known' : 'not known'}`,
};

/** One member of a filter; what has no plain words is quoted as it is written. */
const condition = (path: string, raw: unknown): string[] => {
  const operators =
    isFilter(raw) && Object.keys(raw).every((key) => key.startsWith('$')) ? raw : { $eq: raw };
  const [kind = '', name = '', measure] = path.split('.');
  return Object.entries(operators).map(([operator, operand]) => {
    if ((kind === 'events' || kind === 'purchases') && measure !== undefined) {
      const words = doneWords(kind, name, measure, operator, operand);
      if (words !== null) return words;
    }
    if ((kind === 'events' || kind === 'purchases') && measure === undefined && operator === '$exists') {
      return operand ? deed(kind, name) : `never ${deed(kind, name)}`;
    }
    const attribute = plain(kind === 'custom_attributes' ? path.slice(kind.length + 1) : path);
    const compare = COMPARISONS[operator];
    return compare
      ? compare(attribute, operand)
      : `${attribute} fits ${JSON.stringify({ [operator]: operand })}`;
  });
};

const COUNT = /^(events|purchases)\.([^.]+)\.count$/;

/** `{ "$gte": 2 }` as 2; `null` for any other condition. */
const boundOf = (raw: unknown, operator: string): unknown =>
  isFilter(raw) && Object.keys(raw).join() === operator ? raw[operator] : null;

/** How often and how lately somebody did one thing are one thing to say. */
const together = (filter: Filter): { words: string[]; rest: Filter } => {
  const rest = { ...filter };
  const words = Object.keys(filter).flatMap((key) => {
    const [, kind, name] = COUNT.exec(key) ?? [];
    if (kind === undefined || name === undefined) return [];
    const lately = `${kind}.${name}.last_days_ago`;
    const count = boundOf(filter[key], '$gte');
    const within = boundOf(filter[lately], '$lte');
    if (count === null || within === null) return [];
    delete rest[key];
    delete rest[lately];
    const often = count === 1 ? '' : ` ${times(count)} or more, the last time`;
    return [`${deed(kind, name)}${often} in the last ${days(within)}`];
  });
  return { words, rest };
};

/** What a workspace calls a segment that a filter has only as an ID. */
type SegmentName = (id: string) => string;

const parts = (filter: Filter, segmentName: SegmentName): string[] => {
  const { words, rest } = together(filter);
  return [...words, ...plainParts(rest, segmentName)];
};

const plainParts = (filter: Filter, segmentName: SegmentName): string[] =>
  Object.entries(filter).flatMap(([key, raw]) => {
    if (key === '$segment') return [`they are in “${segmentName(String(raw))}”`];
    if ((key === '$and' || key === '$or' || key === '$nor') && Array.isArray(raw)) {
      const each = raw.filter(isFilter).map((inner) => parts(inner, segmentName).join(' and '));
      if (key === '$and') return each;
      return [key === '$or' ? each.join(', or ') : `not: ${each.join(', or ')}`];
    }
    return condition(key, raw);
  });

/** An audience filter as a sentence a marketer can check. */
export const audienceWords = (
  audience: Filter | null | undefined,
  segmentName: SegmentName = (id) => id,
): string => {
  const conditions = isFilter(audience) ? parts(audience, segmentName) : [];
  return conditions.length === 0 ? 'Everyone.' : `People of whom this is true: ${conditions.join('; and ')}.`;
};
