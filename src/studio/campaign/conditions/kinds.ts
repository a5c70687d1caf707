import type { SuggestionsResponse } from '../../server/routes/suggestions.ts';
import type { Filter } from '../campaign-json.ts';
import { event, purchase } from './activity.ts';
import { app } from './app.ts';
import { attribute } from './attribute.ts';
import { campaign } from './campaign.ts';
import type { AudienceName, ConditionChoices, ConditionKind, Control } from './condition-kind.ts';
import { segment } from './segment.ts';
import { subscription } from './subscription.ts';

/** Condition kinds in the order of their buttons. */
const KINDS = { attribute, event, purchase, group: subscription, app, segment, campaign };

/** Condition in the audience builder. */
export type Condition = ReturnType<(typeof KINDS)[keyof typeof KINDS]['blank']>;

const KIND_LIST: readonly ConditionKind<Condition>[] = Object.values(KINDS);

/** Condition kinds with attributes last, because they match any name. */
const BY_SPECIFICITY = [...KIND_LIST.filter((kind) => kind !== attribute), attribute];

const getKind = ({ kind }: Condition): ConditionKind<Condition> => KINDS[kind];

export const NEW_CONDITIONS = KIND_LIST.map(({ label, blank }) => ({ label, blank }));

export const writeCondition = (condition: Condition): Filter => getKind(condition).write(condition);

export const isComplete = (condition: Condition): boolean => getKind(condition).isComplete(condition);

export const isUnknown = (condition: Condition, names: SuggestionsResponse | null): boolean =>
  names !== null && isComplete(condition) && getKind(condition).isUnknown?.(condition, names) === true;

export const getControls = (condition: Condition, choices: ConditionChoices): Control<Condition>[] =>
  getKind(condition).controls(condition, choices);

/** Parses the members of a filter, each by the first matching kind. Returns `null` if the builder cannot show a member. */
export const readConditions = (filter: Filter): Condition[] | null => {
  const conditions: Condition[] = [];
  const read = new Set<string>();
  for (const name of Object.keys(filter)) {
    if (read.has(name)) continue;
    const match = BY_SPECIFICITY.map((kind) => kind.read(name, filter)).find((each) => each !== null);
    if (!match || match === 'unsupported') return null;
    for (const each of match.names) read.add(each);
    conditions.push(match.result);
  }
  return conditions;
};

/** Describes the members of a filter except groups such as `$and`. */
export const describeConditions = (filter: Filter, getName: AudienceName): string[] => {
  const described = new Set<string>();
  return Object.keys(filter).flatMap((name) => {
    if (described.has(name)) return [];
    const match = BY_SPECIFICITY.map((kind) => kind.describe?.(name, filter, getName) ?? null).find(
      (each) => each !== null,
    );
    for (const each of match?.names ?? []) described.add(each);
    return match?.result ?? [];
  });
};
