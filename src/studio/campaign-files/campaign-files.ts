import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../protocol/index.ts';
import { getSegments, type StudioStore, type Workspace } from '../../service/index.ts';
import { checkDraft } from '../server/check-draft.ts';
import { campaignRows } from '../server/routes/campaigns.ts';

/** State file with the release that each file was pulled from, so that a push does not revert newer releases. */
const STATE = '.releases.json';

interface MirroredCampaign {
  id: string;
  campaign: Record<string, unknown>;
  /** Release of the file; 0 if none. */
  basedOn: number;
}

const getCampaignPath = (folder: string, id: string) => join(folder, `${encodeURIComponent(id)}.json`);
const formatJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const readState = (folder: string): Record<string, number> => {
  const file = join(folder, STATE);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
};

const readJson = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: expected JSON (${error instanceof Error ? error.message : error})`);
  }
};

/** Reads the campaigns of a folder, one JSON file each. */
const readMirror = (folder: string): MirroredCampaign[] => {
  const state = readState(folder);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const campaign = readJson(file);
      const id = isRecord(campaign) && campaign['campaign_id'];
      if (!isRecord(campaign) || typeof id !== 'string' || file !== getCampaignPath(folder, id)) {
        throw new Error(`${file}: expected a campaign with the campaign_id that the file is named after`);
      }
      return { id, campaign: campaign!, basedOn: state[id] ?? 0 };
    });
};

/** Writes the published campaigns to the folder, and deletes the files of all other campaigns. */
const writeMirror = (folder: string, campaigns: readonly MirroredCampaign[]): void => {
  mkdirSync(folder, { recursive: true });
  const gone = Object.keys(readState(folder)).filter((id) => !campaigns.some((each) => each.id === id));
  for (const id of gone) rmSync(getCampaignPath(folder, id), { force: true });
  for (const { id, campaign } of campaigns) writeFileSync(getCampaignPath(folder, id), formatJson(campaign));
  const state = Object.fromEntries(campaigns.map(({ id, basedOn }) => [id, basedOn]));
  writeFileSync(join(folder, STATE), formatJson(state));
};

interface MirrorOptions {
  workspace: Workspace;
  studio: StudioStore;
  folder: string;
  nowMs: number;
}

/** Returns the published campaigns: the live release of each, or the version of the workspace file if there is no release. */
const published = async (options: MirrorOptions): Promise<MirroredCampaign[]> =>
  (await campaignRows(options)).flatMap(({ id, published: live, isArchived, scheduled, newest }) => {
    if (!live || isArchived) return [];
    // A push over a scheduled release is a conflict, because the release would replace it when it goes live.
    return [{ id, campaign: { ...live.campaign }, basedOn: scheduled.length > 0 ? live.release : newest }];
  });

/** Writes all published campaigns to the folder. Returns their number. */
export const pullCampaigns = async (options: MirrorOptions): Promise<number> => {
  const campaigns = await published(options);
  writeMirror(options.folder, campaigns);
  return campaigns.length;
};

interface PushResult {
  released: { id: string; release: number }[];
  /** Campaigns that another operator has published since the last pull. */
  conflicts: { id: string; author: string; release: number }[];
}

/** Returns whether the values are deeply equal, ignoring the order of members. */
const isSame = (one: unknown, other: unknown): boolean => {
  const sorted = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(sorted);
    const entries = Object.entries(value).map(([name, each]) => [name, sorted(each)] as const);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
};

/**
 * Publishes all campaigns of the folder that differ from the published ones. Publishes nothing if a campaign has an error.
 * `force` overwrites releases unknown to the folder, for example in another environment.
 */
export const pushCampaigns = async (
  options: MirrorOptions & { author: string; note: string; force: boolean },
): Promise<PushResult> => {
  const { workspace, studio, folder, nowMs, author, note, force } = options;
  const { workspaceId } = workspace;
  const segments = getSegments(workspace, await studio.liveReleases(workspaceId, nowMs));
  const now = new Map((await published(options)).map((each) => [each.id, each]));
  const changed = readMirror(folder).filter(({ id, campaign }) => !isSame(now.get(id)?.campaign, campaign));
  const problems = changed.flatMap(({ id, campaign }) =>
    checkDraft(campaign, { ...workspace, segments }, nowMs)
      .filter(({ severity }) => severity === 'error')
      .map(({ path, message }) => `${id}: ${path.join('.')}: ${message}`),
  );
  if (problems.length > 0) throw new Error(`nothing was published: ${problems.join('; ')}`);
  const result: PushResult = { released: [], conflicts: [] };
  for (const { id, campaign: content, basedOn: known } of changed) {
    const subject = { kind: 'campaign', subjectId: id } as const;
    const [newest] = await studio.releases(workspaceId, { subject, limit: 1 });
    // A campaign without a release, for example in a new database, has nothing that a push could revert.
    const basedOn = force || !newest ? (newest?.release ?? 0) : known;
    const release = await studio.addRelease(
      { workspaceId, ...subject, content, basedOn, author, note, createdAtMs: nowMs, liveAtMs: nowMs },
      {
        audit: (number) => ({
          workspaceId,
          atMs: nowMs,
          operator: author,
          action: 'campaign.publish',
          subject: id,
          details: `release ${number}, by placard campaigns push`,
        }),
      },
    );
    if (release === null) {
      result.conflicts.push({ id, author: newest?.author ?? '', release: newest?.release ?? 0 });
      continue;
    }
    result.released.push({ id, release });
  }
  // After a conflict the folder keeps the pulled state.
  if (result.conflicts.length === 0) writeMirror(folder, await published(options));
  return result;
};
