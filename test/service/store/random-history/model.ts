// Reference model of a random history: counts every cell of the results from plain lists.

import { EVENT_TYPES } from '../../../../src/protocol/index.ts';
import type { NewBannerEvent } from '../../../../src/service/profiles/events.ts';
import { formatGoal } from '../../../../src/service/results/goals.ts';
import type { GoalTotals, TotalsByGoal } from '../../../../src/service/results/tables.ts';
import type { Goal } from '../../../../src/service/store/index.ts';
import { createZonedCalendar } from '../../../../src/service/zoned-calendar.ts';
import { type Batch, type Change, GOALS, TIME_ZONE } from './history.ts';

interface Seen extends NewBannerEvent {
  atMs: number;
  /** Deleted by retention. Results keep it. */
  isPruned: boolean;
}

interface Done {
  name: string;
  spent: number;
  currency: string;
  timeMs: number;
  receivedAtMs: number;
}

interface Person {
  hasProfile: boolean;
  seen: Seen[];
  done: Done[];
  /** Conversions that retention has deleted after they were counted, by campaign. */
  pruned: Record<string, TotalsByGoal>;
  lastSeenMs: number;
}

/** Numbers by cell: a dimension or a goal of a campaign's variant. */
export type Cells = Record<string, number[]>;

const calendar = createZonedCalendar(TIME_ZONE);

/** As counted for its campaign, and for its holdout. */
const counted = (seen: readonly Seen[]) =>
  seen
    .filter(({ isTestSend }) => !isTestSend)
    .flatMap((event) =>
      event.holdoutId === null
        ? [event]
        : [event, { ...event, campaignId: event.holdoutId, variantId: 'campaigns' }],
    );

const getFirst = (seen: readonly Seen[], campaignId: string): Seen | undefined =>
  counted(seen)
    .filter((each) => each.campaignId === campaignId && each.eventType === 'impression')
    .toSorted((a, b) => a.atMs - b.atMs || ((a.variantId ?? '') < (b.variantId ?? '') ? -1 : 1))[0];

const getName = (goal: Goal) => ('event' in goal ? `event:${goal.event}` : `product:${goal.product}`);

const getKey = ({ campaignId, bannerId, eventType, timeMs }: NewBannerEvent) =>
  [campaignId, bannerId, eventType, timeMs].join(' ');

const addTotals = (totals: TotalsByGoal, goal: string, [count, spent, currencies, day]: GoalTotals) => {
  const known = totals[goal] ?? [0, 0, '', day];
  const all = new Set([...known[2].split(','), ...currencies.split(',')].filter((each) => each !== ''));
  totals[goal] = [known[0] + count, known[1] + spent, [...all].sort().join(','), [known[3], day].sort()[0]!];
};

export const createModel = () => {
  const people = new Map<string, Person>();
  /** Expired users, whose counts stay. */
  const expired: Person[] = [];
  const goals: Record<string, Goal[]> = {};

  const getPerson = (name: string): Person => {
    const person = people.get(name) ?? { hasProfile: false, seen: [], done: [], pruned: {}, lastSeenMs: 0 };
    people.set(name, person);
    return person;
  };
  const getProfile = (name: string): Person => Object.assign(getPerson(name), { hasProfile: true });

  const see = (person: Person, event: Seen) => {
    const isStored = person.seen.some(
      (each) => !each.isPruned && !event.isPruned && getKey(each) === getKey(event),
    );
    if (!isStored) person.seen.push(event);
  };

  /** Conversions of a person for a campaign. */
  const getConversions = (person: Person, campaignId: string, done: readonly Done[]): TotalsByGoal => {
    const totals: TotalsByGoal = {};
    const first = getFirst(person.seen, campaignId);
    if (!first) return totals;
    for (const goal of goals[campaignId] ?? []) {
      for (const { name, timeMs, spent, currency } of done) {
        if (name !== getName(goal) || timeMs < first.atMs || timeMs > first.atMs + goal.withinMs) continue;
        addTotals(totals, formatGoal(goal), [1, spent, currency, calendar.toDay(timeMs)]);
      }
    }
    return totals;
  };

  const addPruned = (person: Person, campaignId: string, totals: TotalsByGoal) => {
    person.pruned[campaignId] ??= {};
    for (const [goal, each] of Object.entries(totals)) addTotals(person.pruned[campaignId], goal, each);
  };

  const apply = (change: Change, nowMs: number) => {
    switch (change.do) {
      case 'see': {
        const person = getPerson(change.user);
        const atMs = Math.min(change.event.timeMs, change.event.receivedAtMs);
        see(person, { ...change.event, atMs, isPruned: false });
        person.lastSeenMs = nowMs;
        break;
      }
      case 'event': {
        const { user, name, timeMs } = change;
        getProfile(user).done.push({
          name: `event:${name}`,
          spent: 0,
          currency: '',
          timeMs,
          receivedAtMs: nowMs,
        });
        break;
      }
      case 'purchase': {
        const { user, product, price: spent, currency, timeMs } = change;
        getProfile(user).done.push({
          name: `product:${product}`,
          spent,
          currency,
          timeMs,
          receivedAtMs: nowMs,
        });
        break;
      }
      case 'merge': {
        if (change.kept === change.merged) return;
        const [kept, merged] = [getProfile(change.kept), getProfile(change.merged)];
        for (const event of merged.seen) see(kept, event);
        kept.done.push(...merged.done);
        for (const [campaignId, totals] of Object.entries(merged.pruned)) addPruned(kept, campaignId, totals);
        people.delete(change.merged);
        break;
      }
      case 'erase':
        people.delete(change.user);
    }
  };

  const prune = (beforeMs: number) => {
    for (const [name, person] of people) {
      const isOld = ({ receivedAtMs }: Done) => receivedAtMs < beforeMs;
      const old = person.done.filter(isOld);
      if (old.length > 0)
        for (const campaignId of Object.keys(goals))
          addPruned(person, campaignId, getConversions(person, campaignId, old));
      person.done = person.done.filter((each) => !isOld(each));
      for (const each of person.seen) each.isPruned ||= each.atMs < beforeMs;
      if (person.hasProfile || person.lastSeenMs >= beforeMs) continue;
      expired.push(person);
      people.delete(name);
    }
  };

  return {
    apply({ changes, action, nowMs }: Batch): void {
      for (const change of changes) apply(change, nowMs);
      if (action.do === 'prune') prune(action.beforeMs);
      if (action.do !== 'add goals') return;
      const known = goals[action.campaignId] ?? [];
      const added = GOALS[action.campaignId]!.slice(0, action.count);
      goals[action.campaignId] = [...new Set([...known, ...added])];
    },

    cells(): Cells {
      const cells: Cells = {};
      const add = (name: string, index: number, value: number) => {
        cells[name] ??= [0, 0, 0, 0, 0, 0];
        cells[name][index]! += value;
      };
      for (const person of [...people.values(), ...expired]) {
        const ofCampaign = Map.groupBy(counted(person.seen), ({ campaignId }) => campaignId);
        for (const [campaignId, seen] of ofCampaign) {
          const first = getFirst(person.seen, campaignId);
          if (!first) continue;
          const arm = `${campaignId} ${first.variantId ?? ''}`;
          const users = new Set<string>();
          for (const event of seen) {
            const type = EVENT_TYPES.indexOf(event.eventType);
            const dimensions = ['', `day:${event.day}`, `placement:${event.placementId}`];
            if (event.language !== null) dimensions.push(`language:${event.language}`);
            for (const dimension of dimensions) {
              const name = `${arm} ${dimension}`;
              add(name, 2 * type, 1);
              if (users.has(`${name} ${type}`)) continue;
              users.add(`${name} ${type}`);
              add(name, 2 * type + 1, 1);
            }
          }
          const reached = getConversions(person, campaignId, person.done);
          for (const [goal, each] of Object.entries(person.pruned[campaignId] ?? {}))
            addTotals(reached, goal, each);
          for (const [goal, [, spent, currencies, day]] of Object.entries(reached)) {
            const name = `${arm} ${goal} ${day} ${currencies}`;
            cells[name] ??= [0, 0, 0];
            for (const [index, value] of [1, spent, spent * spent].entries()) cells[name][index]! += value;
          }
        }
      }
      return cells;
    },
  };
};
