import { MEASURE_BY_TYPE } from '../measures.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import { withHoldoutAttribution } from '../profiles/holdout-id.ts';
import type { UserCampaign, UserCampaignRow } from '../profiles/user-campaign.ts';
import type { ChangeSet, IdentifierRow } from '../profiles/user-repository.ts';
import { type BulkStatement, query } from '../sql/dialect.ts';
import type { SqlRow, Statement } from '../sql/row-readers.ts';
import type { SqlSteps } from '../sql/steps.ts';
import type { NewRowOf, RowOf } from '../sql/table.ts';
import { BANNER_EVENT_KEY, DUPLICATE_EVENT, USER_CAMPAIGNS, type USER_CHANGES } from '../sql/user-tables.ts';
import type { Statements } from './statements.ts';
import { addBannerEvent, type DuplicateEvent, mergeUserCampaigns } from './user-campaign-changes.ts';

/** Writes of one transaction. `commitGroup` derives rows of `user_campaigns` from rows that the transaction reads. */
export interface GroupWrites {
  users: {
    updated: BulkStatement;
    deleted: BulkStatement;
    created: BulkStatement;
    identifiersRemoved: BulkStatement;
    identifiersAdded: BulkStatement;
  };
  events: BulkStatement;
  otherStatements: BulkStatement[];
  merged: ChangeSet['merged'];
  bannerEvents: ChangeSet['bannerEvents'];
  erasedOrExpired: { workspaceId: string; userId: number; kind: 'erased' | 'expired' }[];
  dependentRowsToDelete: BulkStatement[];
  points: BulkStatement;
}

/** Sorts rows by user. All transactions write rows in this order, so that they cannot deadlock. */
export const sortByUser = <T extends { userId: number }>(rows: readonly T[]): T[] =>
  rows.toSorted((one, other) => one.userId - other.userId);
const sortByName = <T>(rows: readonly T[], getName: (row: T) => string): T[] =>
  rows.toSorted((one, other) => (getName(one) < getName(other) ? -1 : 1));
const formatIdentifierRow = ({ workspaceId, identifier, userId }: IdentifierRow) =>
  `${workspaceId} ${identifier} ${userId}`;

/** Makes a statement fail if another replica has written any of the rows since they were read. */
const expectRows = (statement: BulkStatement, rows: readonly unknown[]): BulkStatement => ({
  ...statement,
  expectedRows: rows.length,
});

/** Creates the writes of a group. `extraStatements` are the additional statements of the mutations. */
export const toGroupWrites = (
  statements: Statements,
  changes: ChangeSet,
  extraStatements: readonly Statement[] = [],
): GroupWrites => {
  const {
    updated,
    deleted,
    created,
    identifiersRemoved,
    identifiersAdded,
    userIdsToPurge,
    auditRedactions,
    identifiersOfDeletedRejects,
  } = changes;
  const { merged, erasedOrExpired, bannerEvents } = changes;
  return {
    users: {
      updated: expectRows(statements.updateUsers(sortByUser(updated)), updated),
      deleted: expectRows(statements.deleteUsers(sortByUser(deleted)), deleted),
      created: expectRows(statements.insertUsers(sortByUser(created)), created),
      identifiersRemoved: statements.deleteIdentifiers(identifiersRemoved),
      identifiersAdded: expectRows(
        statements.insertIdentifiers(sortByName(identifiersAdded, formatIdentifierRow)),
        identifiersAdded,
      ),
    },
    events: statements.insertEvents(
      changes.events.map(({ workspaceId, userId, event }) => ({ ...event, workspaceId, userId })),
    ),
    otherStatements: [
      ...auditRedactions.map(({ workspaceId, externalId }) =>
        statements.redactAuditSubject(workspaceId, externalId),
      ),
      statements.deleteRejects(identifiersOfDeletedRejects),
      ...extraStatements.map(({ sql, values }) => query(sql, ...values)),
    ],
    merged,
    erasedOrExpired,
    bannerEvents,
    dependentRowsToDelete: statements.erase(userIdsToPurge),
    points: statements.addDataPoints(
      sortByName(changes.points, ({ workspaceId, day }) => `${workspaceId} ${day}`),
    ),
  };
};

type NewChange = NewRowOf<typeof USER_CHANGES>;

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Banner event to write. */
type WrittenBannerEvent = NewBannerEvent & Pick<UserCampaignRow, 'workspaceId' | 'userId'>;

const formatKey = (event: RowOf<typeof BANNER_EVENT_KEY>) =>
  BANNER_EVENT_KEY.columns.map(({ toValue }) => toValue(event)).join(' ');

/** Removes banner events that are stored already or repeated within the group. */
const filterNew = (bannerEvents: readonly WrittenBannerEvent[], stored: readonly SqlRow[]) => {
  const known = new Set(stored.map((row) => formatKey(BANNER_EVENT_KEY.read(row))));
  return bannerEvents.filter((each) => {
    const key = formatKey(each);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
};

/** Collects the rows of `user_campaigns`, and applies the changes of a group. */
const collectUserCampaigns = (rows: readonly SqlRow[]) => {
  const users = new Map<number, Map<string, UserCampaign>>();
  const ensureUserCampaigns = (userId: number) => {
    const userCampaigns = users.get(userId) ?? new Map<string, UserCampaign>();
    users.set(userId, userCampaigns);
    return userCampaigns;
  };
  for (const row of rows.map(USER_CAMPAIGNS.read)) ensureUserCampaigns(row.userId).set(row.campaignId, row);
  const changed = new Map<UserCampaign, Pick<UserCampaignRow, 'workspaceId' | 'userId'>>();

  return {
    merge({ workspaceId, from, to }: ChangeSet['merged'][number], duplicates: readonly DuplicateEvent[]) {
      const merged = mergeUserCampaigns(
        [...ensureUserCampaigns(to).values()],
        [...ensureUserCampaigns(from).values()],
        duplicates,
      );
      users.set(to, new Map(merged.map((userCampaign) => [userCampaign.campaignId, userCampaign])));
      users.delete(from);
      for (const userCampaign of merged) changed.set(userCampaign, { workspaceId, userId: to });
    },
    /** Adds an event. Returns whether it is the user's first event of its type for the campaign. */
    add(event: WrittenBannerEvent): boolean {
      const { workspaceId, userId } = event;
      const userCampaigns = ensureUserCampaigns(userId);
      for (const each of withHoldoutAttribution(event)) {
        const userCampaign = addBannerEvent(userCampaigns.get(each.campaignId), each);
        userCampaigns.set(each.campaignId, userCampaign);
        changed.set(userCampaign, { workspaceId, userId });
      }
      return userCampaigns.get(event.campaignId)![MEASURE_BY_TYPE[event.eventType].events] === 1;
    },
    /** Returns the changed rows, sorted by user as in all transactions. */
    changed: (): UserCampaignRow[] =>
      sortByUser([...changed].map(([userCampaign, user]) => ({ ...userCampaign, ...user }))),
  };
};

/**
 * Writes a group in one round trip, or in two with banner events or merges. Writes existing users first, so that the slower of
 * two replicas fails before it has sent more. Removes an identifier from its user before another user gets it. Writes rows that
 * every request of a workspace changes last.
 */
export function* commitGroup(statements: Statements, group: GroupWrites): SqlSteps<void> {
  const { users, events, otherStatements, merged, erasedOrExpired, dependentRowsToDelete, points } = group;
  const { updated, deleted, created, identifiersRemoved, identifiersAdded } = users;
  const existing = [updated, deleted, identifiersRemoved, ...otherStatements];
  const added = [created, identifiersAdded, events];
  const changes: NewChange[] = [
    ...merged.map(({ workspaceId, from, to }) => ({
      workspaceId,
      userId: from,
      kind: 'merged' as const,
      to,
    })),
    ...erasedOrExpired.map((each) => ({ ...each, to: null })),
  ].map(({ to, ...each }) => ({ ...each, intoUserId: to, changedAtMs: Date.now() }));
  if (merged.length === 0 && group.bannerEvents.length === 0) {
    yield [
      ...existing,
      ...statements.reusePlans,
      ...added,
      ...dependentRowsToDelete,
      statements.insertChanges(changes),
      points,
    ];
    return;
  }

  const first = [...existing, ...added];

  const bannerEvents = group.bannerEvents.map(
    ({ workspaceId, userId, event }): WrittenBannerEvent => ({ ...event, workspaceId, userId }),
  );
  if (merged.length > 0) first.push(...statements.lockMerges, ...statements.indexUserEvents);
  const mergedUserIds = merged.flatMap(({ from, to }) => [from, to]);
  const ids = distinct([...mergedUserIds, ...bannerEvents.map(({ userId }) => userId)]);
  const campaigns = bannerEvents.flatMap((each) =>
    withHoldoutAttribution(each).map(({ campaignId }) => campaignId),
  );
  const results = yield [
    ...first,
    mergedUserIds.length > 0
      ? statements.findUserCampaigns(ids)
      : statements.findUserCampaignsByCampaign(ids, distinct(campaigns)),
    // Moves users in sequence, because several users may be merged into one.
    ...merged.flatMap(({ from, to }) => [
      statements.duplicates(from, to),
      statements.moveEvents(from, to),
      statements.moveBannerEvents(from, to),
    ]),
    // Follows the moves, because events that a user had before the merge are duplicates, too.
    statements.storedBannerEvents(bannerEvents),
  ];
  const rows = results.slice(first.length);
  const userCampaigns = collectUserCampaigns(rows[0]!);
  const duplicatesByMerge = merged.map((each, index) => {
    const duplicates = rows[1 + 3 * index]!.map(DUPLICATE_EVENT.read);
    userCampaigns.merge(each, duplicates);
    return { ...each, duplicates };
  });
  const newEvents = filterNew(bannerEvents, rows.at(-1)!).map((each) => ({
    ...each,
    isFirstOfType: !each.isTestSend && userCampaigns.add(each),
  }));
  const corrections = duplicatesByMerge.flatMap(({ workspaceId, to, duplicates }) =>
    duplicates.map(
      (bannerEvent): NewChange => ({
        workspaceId,
        userId: to,
        kind: 'duplicate',
        bannerEvent,
        changedAtMs: Date.now(),
      }),
    ),
  );
  yield [
    ...statements.reusePlans,
    statements.insertBannerEvents(newEvents),
    statements.writeUserCampaigns(userCampaigns.changed()),
    ...dependentRowsToDelete,
    statements.insertChanges([...changes, ...corrections]),
    points,
  ];
}
