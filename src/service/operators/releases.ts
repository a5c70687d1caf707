import { jsonIn, numberIn, type RunSql, type SqlRow, textIn } from './run-sql.ts';

/** A campaign as it was published at one moment. Releases are only ever added. */
export interface Release {
  workspaceId: string;
  /** 1, 2, 3 … over all campaigns of the workspace. */
  release: number;
  campaignId: string;
  /** As a workspace file would write it; `null` takes the campaign away. */
  campaign: unknown;
  /** The release of the same campaign that its author had before them; 0 where there was none. */
  basedOn: number;
  author: string;
  note: string;
  createdAtMs: number;
  /** From when on it is what users get. */
  liveAtMs: number;
}

export const RELEASES_TABLE = `
CREATE TABLE releases (
  workspace_id TEXT NOT NULL,
  release INTEGER NOT NULL,
  campaign_id TEXT NOT NULL,
  campaign JSON,
  based_on INTEGER NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  live_at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, release),
  -- Of two releases that continue the same one, the second is a conflict.
  UNIQUE (workspace_id, campaign_id, based_on)
);
`;

/** What was published, and when it is live. */
export interface ReleaseStore {
  /** The newest release of each campaign among those that are live at `nowMs`, oldest campaign first. */
  liveReleases(workspaceId: string, nowMs: number): Promise<Release[]>;
  /** The newest release of each campaign that holds its text: what a campaign said that was taken away since. */
  writtenReleases(workspaceId: string, nowMs: number): Promise<Release[]>;
  /** The number of the newest release, live or planned; 0 where there is none. It costs next to nothing. */
  newestRelease(workspaceId: string): Promise<number>;
  /** Releases that become live after `nowMs`, soonest first. */
  plannedReleases(workspaceId: string, nowMs: number): Promise<Release[]>;
  /** Newest first, only those before a number, and of one campaign, where these are given. */
  releases(
    workspaceId: string,
    page: { before?: number; campaignId?: string; limit: number },
  ): Promise<Release[]>;
  /** The release of this number; `null` where there is none. */
  release(workspaceId: string, release: number): Promise<Release | null>;
  /** Adds a release and says its number: `null` where the campaign has a release after `basedOn`. */
  addRelease(release: Omit<Release, 'release'>): Promise<number | null>;
}

/** Two who publish at once want the same number: the slower one takes the next. */
const MAX_TRIES = 20;

const releaseOf = (row: SqlRow): Release => ({
  workspaceId: textIn(row, 'workspace_id'),
  release: numberIn(row, 'release'),
  campaignId: textIn(row, 'campaign_id'),
  campaign: jsonIn(row, 'campaign'),
  basedOn: numberIn(row, 'based_on'),
  author: textIn(row, 'author'),
  note: textIn(row, 'note'),
  createdAtMs: numberIn(row, 'created_at_ms'),
  liveAtMs: numberIn(row, 'live_at_ms'),
});

export const createReleaseStore = (run: RunSql): ReleaseStore => {
  const newestRelease = async (workspaceId: string): Promise<number> => {
    const [row] = await run('SELECT max(release) AS newest FROM releases WHERE workspace_id = $1', [
      workspaceId,
    ]);
    return Number(row?.['newest'] ?? 0);
  };
  const newestOf = async (workspaceId: string, campaignId: string): Promise<number> => {
    const [row] = await run(
      'SELECT max(release) AS newest FROM releases WHERE workspace_id = $1 AND campaign_id = $2',
      [workspaceId, campaignId],
    );
    return Number(row?.['newest'] ?? 0);
  };

  return {
    newestRelease,

    async liveReleases(workspaceId, nowMs) {
      const rows = await run(
        `SELECT * FROM releases WHERE workspace_id = $1 AND release IN (
           SELECT max(release) FROM releases WHERE workspace_id = $1 AND live_at_ms <= $2 GROUP BY campaign_id
         )`,
        [workspaceId, nowMs],
      );
      const [...firsts] = await run(
        'SELECT campaign_id, min(release) AS first FROM releases WHERE workspace_id = $1 GROUP BY campaign_id',
        [workspaceId],
      );
      const first = new Map(firsts.map((row) => [textIn(row, 'campaign_id'), numberIn(row, 'first')]));
      return rows
        .map(releaseOf)
        .sort((one, other) => first.get(one.campaignId)! - first.get(other.campaignId)!);
    },

    async writtenReleases(workspaceId, nowMs) {
      const rows = await run(
        `SELECT * FROM releases WHERE workspace_id = $1 AND release IN (
           SELECT max(release) FROM releases WHERE workspace_id = $1 AND live_at_ms <= $2 AND campaign IS NOT NULL
           GROUP BY campaign_id
         )`,
        [workspaceId, nowMs],
      );
      return rows.map(releaseOf);
    },

    async plannedReleases(workspaceId, nowMs) {
      const rows = await run(
        'SELECT * FROM releases WHERE workspace_id = $1 AND live_at_ms > $2 ORDER BY live_at_ms, release',
        [workspaceId, nowMs],
      );
      return rows.map(releaseOf);
    },

    async releases(workspaceId, { campaignId, before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = await run(
        `SELECT * FROM releases WHERE workspace_id = $1 AND release < $2 AND ($3 = '' OR campaign_id = $3)
         ORDER BY release DESC LIMIT $4`,
        [workspaceId, before, campaignId ?? '', limit],
      );
      return rows.map(releaseOf);
    },

    async release(workspaceId, release) {
      const [row] = await run('SELECT * FROM releases WHERE workspace_id = $1 AND release = $2', [
        workspaceId,
        release,
      ]);
      return row ? releaseOf(row) : null;
    },

    async addRelease(added) {
      const { workspaceId, campaignId, campaign, basedOn, author, note, createdAtMs, liveAtMs } = added;
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        if ((await newestOf(workspaceId, campaignId)) !== basedOn) return null;
        const release = (await newestRelease(workspaceId)) + 1;
        const [row] = await run(
          `INSERT INTO releases (workspace_id, release, campaign_id, campaign, based_on, author, note, created_at_ms, live_at_ms)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING release`,
          [
            workspaceId,
            release,
            campaignId,
            campaign === null ? null : JSON.stringify(campaign),
            basedOn,
            author,
            note,
            createdAtMs,
            liveAtMs,
          ],
        );
        if (row) return release;
      }
      throw new Error('The release could not be numbered: too many were published at once');
    },
  };
};
