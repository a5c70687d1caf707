import type { Filter } from '../campaigns/audience/audience.ts';
import {
  auditStatement,
  type Draft,
  type NewAuditEntry,
  newDraftStatement,
  removeDraftStatement,
} from '../operators/index.ts';
import type { CampaignResults } from '../results/read.ts';
import {
  type RunSql,
  type RunTogether,
  readJson,
  readNumber,
  readNumberOrNull,
  readText,
  type SqlRow,
  type Statement,
} from '../sql/row-readers.ts';
import { bigint, defineRow, defineTable, enumText, json, orNull, type RowOf, text } from '../sql/table.ts';
import { createInsert } from '../sql/writes.ts';

/** Kinds of released subjects. Each kind has its own IDs. */
export const RELEASE_KINDS = ['campaign', 'segment'] as const;
export type ReleaseKind = (typeof RELEASE_KINDS)[number];

/** Conditions under which a scheduled release stops its campaign instead of going live. Each is a type of alert. */
export const STOP_CONDITIONS = ['goal_below_control'] as const;
export type StopCondition = (typeof STOP_CONDITIONS)[number];

/** Segment of a release. */
export interface ReleasedSegment {
  name: string;
  audience: Filter;
}

/** Content by kind, in the format of a workspace file; `null` removes the subject. */
type ReleaseContent =
  | { kind: 'campaign'; content: Record<string, unknown> | null }
  | { kind: 'segment'; content: ReleasedSegment | null };

/** Results of an A/B test at its end. */
export interface EndedTestResults {
  /** Campaign during the test. */
  campaign: object;
  counts: CampaignResults;
}

export const RELEASES = defineTable(
  'releases',
  {
    workspaceId: text('workspace_id'),
    /** Number of the release, counted from 1 in each workspace. */
    release: bigint('release'),
    kind: enumText('kind', RELEASE_KINDS),
    /** ID of the campaign or segment. */
    subjectId: text('subject_id'),
    content: orNull(json('content')),
    /** Previous release of the same subject; 0 if none. */
    basedOn: bigint('based_on'),
    author: text('author'),
    note: text('note'),
    createdAtMs: bigint('created_at_ms'),
    /** Time when the release goes live. Later than `createdAtMs` if scheduled. */
    liveAtMs: bigint('live_at_ms'),
    /** Time when a scheduled release was canceled; `null` if not canceled. */
    cancelledAtMs: orNull(bigint('cancelled_at_ms')),
    /** Results of the A/B test that the release ended; `null` if none. */
    endedTest: orNull(json<EndedTestResults>('ended_test')),
    /** Condition that, before the release goes live, stops the campaign; `null` if none. */
    stopIf: orNull(enumText('stop_if', STOP_CONDITIONS)),
  },
  {
    key: 'workspace_id, release',
    hasLargeRows: true,
    indexes: `-- The second of two releases based on the same one is a conflict.
CREATE UNIQUE INDEX releases_of_subject ON releases (workspace_id, kind, subject_id, based_on);
CREATE INDEX releases_by_time ON releases (workspace_id, live_at_ms);
`,
  },
);

/** Published version of a campaign or segment. */
export type Release = Omit<RowOf<typeof RELEASE>, 'kind'> & ReleaseContent;

export type NewRelease = Omit<RowOf<typeof RELEASES>, 'release' | 'cancelledAtMs' | 'endedTest' | 'stopIf'>;

/** Results of an A/B test that a release ended. */
const ENDED_TEST = defineRow({
  release: RELEASES.fields.release,
  endedAtMs: RELEASES.fields.liveAtMs,
  test: json<EndedTestResults>('ended_test'),
});
export type EndedTest = RowOf<typeof ENDED_TEST>;

/** Writes committed together with a release. */
export interface WithRelease {
  /** Revision of the draft that the release publishes and removes. */
  draftRevision?: string;
  /** Whether to cancel the scheduled releases of the subject. Default false. */
  cancelsScheduled?: boolean;
  /** Results of the A/B test that the release ends. */
  endedTest?: EndedTestResults;
  /** Condition that stops the campaign before the release goes live. Default: none. */
  stopIf?: StopCondition | null;
  /** Returns the audit entry of the release with this number. */
  audit?: (release: number) => NewAuditEntry;
}

/** Minimum time before a release is due to change it, because a replica whose clock is ahead may already serve the release. */
const TOO_LATE_MS = 5_000;

/** State of a workspace's releases. */
export interface ReleaseState {
  /** Number of the newest release, live or scheduled; 0 if none. */
  newest: number;
  /** Time when the next scheduled release goes live, in Unix milliseconds; `Infinity` if none. */
  dueAtMs: number;
}

/** Live, scheduled and previous releases. */
export interface ReleaseStore {
  /** Returns the live release of each subject at `nowMs`, oldest subject first. */
  liveReleases(workspaceId: string, nowMs: number): Promise<Release[]>;
  /** Returns the last release with content of each subject, for example the content of an archived campaign. */
  writtenReleases(workspaceId: string, nowMs: number): Promise<Release[]>;
  /** Returns the state that changes whenever other releases become live. Cheap enough to poll. */
  releaseState(workspaceId: string, nowMs: number): Promise<ReleaseState>;
  /**
   * Returns the number of the newest release of each subject of a kind, whether live, scheduled or canceled. The next release of
   * the subject must be based on it.
   */
  newestReleases(workspaceId: string, kind: ReleaseKind): Promise<Map<string, number>>;
  /** Returns the releases that go live after `nowMs`, soonest first. */
  scheduledReleases(workspaceId: string, nowMs: number): Promise<Release[]>;
  /** Returns releases, newest first, optionally only those before a number or of one subject. */
  releases(
    workspaceId: string,
    page: { before?: number; subject?: Pick<Release, 'kind' | 'subjectId'>; limit: number },
  ): Promise<Release[]>;
  /** Returns a release; `null` if not found. */
  release(workspaceId: string, release: number): Promise<Release | null>;
  /** Returns the last A/B test of a campaign that a live release ended; `null` if none. */
  endedTest(workspaceId: string, campaignId: string, nowMs: number): Promise<EndedTest | null>;
  /** Adds a release. Returns its number; `null` if the subject has a release after `basedOn`. */
  addRelease(release: NewRelease, more?: WithRelease): Promise<number | null>;
  /**
   * Cancels a scheduled release. Stores its content as the draft if a draft is passed and the campaign has none. Returns false
   * if the release is not scheduled or is due within five seconds.
   */
  cancelRelease(
    release: Pick<Release, 'workspaceId' | 'release'>,
    more: { nowMs: number; draft: Draft | null; audit: NewAuditEntry },
  ): Promise<boolean>;
  /** Reschedules a scheduled release. Returns false if the release is not scheduled or is due within five seconds. */
  moveRelease(
    release: Pick<Release, 'workspaceId' | 'release' | 'liveAtMs'>,
    more: { nowMs: number; audit: NewAuditEntry },
  ): Promise<boolean>;
}

/** Maximum attempts to add a release. If two operators publish at once, the slower one retries with the next number. */
const MAX_TRIES = 20;

const { content, endedTest: _, ...fields } = RELEASES.fields;
const RELEASE = defineRow(fields);

const toRelease = (row: SqlRow): Release => {
  const { kind, ...release } = RELEASE.read(row);
  return kind === 'campaign'
    ? { kind, content: readJson(row, content.name), ...release }
    : { kind, content: readJson(row, content.name), ...release };
};

/** Returns the SQL of the last live release of each subject. A scheduled release replaces a fix published before it. */
const lastOfEach = (condition = ''): string =>
  `SELECT * FROM releases WHERE workspace_id = $1 AND release IN (
     SELECT release FROM (
       SELECT release, row_number() OVER (PARTITION BY kind, subject_id ORDER BY live_at_ms DESC, release DESC) AS place
       FROM releases WHERE workspace_id = $1 AND live_at_ms <= $2 AND cancelled_at_ms IS NULL ${condition}
     ) AS ranked WHERE place = 1
   )`;

const addStatement = createInsert(RELEASES, ' ON CONFLICT DO NOTHING RETURNING release');

const cancelScheduledStatement = (release: number, added: NewRelease): Statement => ({
  sql: `UPDATE releases SET cancelled_at_ms = $1 WHERE workspace_id = $2 AND kind = $3 AND subject_id = $4
    AND live_at_ms > $1 AND cancelled_at_ms IS NULL AND release <> $5`,
  values: [added.createdAtMs, added.workspaceId, added.kind, added.subjectId, release],
});

export const createReleaseStore = (run: RunSql, runTogether: RunTogether): ReleaseStore => {
  const readNewest = async (sql: string, values: string[]): Promise<number> => {
    const [row] = await run(
      `SELECT max(release) AS newest FROM releases WHERE workspace_id = $1${sql}`,
      values,
    );
    return Number(row?.['newest'] ?? 0);
  };

  return {
    async releaseState(workspaceId, nowMs) {
      const [row] = await run(
        `SELECT (SELECT max(release) FROM releases WHERE workspace_id = $1) AS newest,
           (SELECT min(live_at_ms) FROM releases
            WHERE workspace_id = $1 AND live_at_ms > $2 AND cancelled_at_ms IS NULL) AS due_at_ms`,
        [workspaceId, nowMs],
      );
      return {
        newest: readNumberOrNull(row!, 'newest') ?? 0,
        dueAtMs: readNumberOrNull(row!, 'due_at_ms') ?? Number.POSITIVE_INFINITY,
      };
    },

    async newestReleases(workspaceId, kind) {
      const rows = await run(
        'SELECT subject_id, max(release) AS newest FROM releases WHERE workspace_id = $1 AND kind = $2 GROUP BY subject_id',
        [workspaceId, kind],
      );
      return new Map(rows.map((row) => [readText(row, 'subject_id'), readNumber(row, 'newest')]));
    },

    async liveReleases(workspaceId, nowMs) {
      const rows = await run(lastOfEach(), [workspaceId, nowMs]);
      const firsts = await run(
        'SELECT kind, subject_id, min(release) AS first FROM releases WHERE workspace_id = $1 GROUP BY kind, subject_id',
        [workspaceId],
      );
      const toSubjectKey = (kind: string, subjectId: string) => `${kind}:${subjectId}`;
      const firstByKey = new Map(
        firsts.map((row) => [
          toSubjectKey(readText(row, 'kind'), readText(row, 'subject_id')),
          readNumber(row, 'first'),
        ]),
      );
      const getFirst = ({ kind, subjectId }: Release) => firstByKey.get(toSubjectKey(kind, subjectId))!;
      return rows.map(toRelease).sort((one, other) => getFirst(one) - getFirst(other));
    },

    async writtenReleases(workspaceId, nowMs) {
      return (await run(lastOfEach('AND content IS NOT NULL'), [workspaceId, nowMs])).map(toRelease);
    },

    async scheduledReleases(workspaceId, nowMs) {
      const rows = await run(
        `SELECT * FROM releases WHERE workspace_id = $1 AND live_at_ms > $2 AND cancelled_at_ms IS NULL
         ORDER BY live_at_ms, release`,
        [workspaceId, nowMs],
      );
      return rows.map(toRelease);
    },

    async releases(workspaceId, { subject, before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = await run(
        `SELECT * FROM releases WHERE workspace_id = $1 AND release < $2
           AND ($3 = '' OR (kind = $3 AND subject_id = $4)) ORDER BY release DESC LIMIT $5`,
        [workspaceId, before, subject?.kind ?? '', subject?.subjectId ?? '', limit],
      );
      return rows.map(toRelease);
    },

    async release(workspaceId, release) {
      const [row] = await run('SELECT * FROM releases WHERE workspace_id = $1 AND release = $2', [
        workspaceId,
        release,
      ]);
      return row ? toRelease(row) : null;
    },

    async endedTest(workspaceId, campaignId, nowMs) {
      const [row] = await run(
        `SELECT release, live_at_ms, ended_test FROM releases
         WHERE workspace_id = $1 AND kind = 'campaign' AND subject_id = $2 AND live_at_ms <= $3
           AND ended_test IS NOT NULL ORDER BY release DESC LIMIT 1`,
        [workspaceId, campaignId, nowMs],
      );
      return row ? ENDED_TEST.read(row) : null;
    },

    async addRelease(
      added,
      { draftRevision, cancelsScheduled = false, endedTest = null, stopIf = null, audit } = {},
    ) {
      const { workspaceId, kind, subjectId } = added;
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const newest = await readNewest(' AND kind = $2 AND subject_id = $3', [workspaceId, kind, subjectId]);
        if (newest !== added.basedOn) return null;
        const release = (await readNewest('', [workspaceId])) + 1;
        const isStored = await runTogether([
          addStatement({ ...added, release, endedTest, stopIf }),
          ...(cancelsScheduled ? [cancelScheduledStatement(release, added)] : []),
          ...(draftRevision === undefined
            ? []
            : [removeDraftStatement(workspaceId, subjectId, draftRevision)]),
          ...(audit ? [auditStatement(audit(release))] : []),
        ]);
        if (isStored) return release;
      }
      throw new Error('The release could not be numbered: too many were published at once');
    },

    cancelRelease: ({ workspaceId, release }, { nowMs, draft, audit }) =>
      runTogether([
        {
          sql: `UPDATE releases SET cancelled_at_ms = $1
            WHERE workspace_id = $2 AND release = $3 AND live_at_ms > $4 AND cancelled_at_ms IS NULL RETURNING release`,
          values: [nowMs, workspaceId, release, nowMs + TOO_LATE_MS],
        },
        ...(draft ? [newDraftStatement(draft)] : []),
        auditStatement(audit),
      ]),

    moveRelease: ({ workspaceId, release, liveAtMs }, { nowMs, audit }) =>
      runTogether([
        {
          sql: `UPDATE releases SET live_at_ms = $1
            WHERE workspace_id = $2 AND release = $3 AND live_at_ms > $4 AND cancelled_at_ms IS NULL RETURNING release`,
          values: [liveAtMs, workspaceId, release, nowMs + TOO_LATE_MS],
        },
        auditStatement(audit),
      ]),
  };
};
