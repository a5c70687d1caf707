import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Which release each file was pulled from: a push over a newer one would undo it. */
const STATE = '.releases.json';

export interface MirroredCampaign {
  id: string;
  campaign: Record<string, unknown>;
  /** The release that the file came from; 0 where it came from none. */
  basedOn: number;
}

const fileOf = (folder: string, id: string) => join(folder, `${encodeURIComponent(id)}.json`);
const textOf = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const stateOf = (folder: string): Record<string, number> => {
  const file = join(folder, STATE);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
};

const readJson = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: expected JSON (${(error as Error).message})`);
  }
};

/** The campaigns of a folder, one JSON file each. */
export const readMirror = (folder: string): MirroredCampaign[] => {
  const state = stateOf(folder);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const campaign = readJson(file) as Record<string, unknown> | null;
      const id = campaign?.['campaign_id'];
      if (typeof id !== 'string' || file !== fileOf(folder, id)) {
        throw new Error(`${file}: expected a campaign with the campaign_id that the file is named after`);
      }
      return { id, campaign: campaign!, basedOn: state[id] ?? 0 };
    });
};

/** Makes the folder say what is published; files of campaigns that are not there any more go. */
export const writeMirror = (folder: string, campaigns: readonly MirroredCampaign[]): void => {
  mkdirSync(folder, { recursive: true });
  const gone = Object.keys(stateOf(folder)).filter((id) => !campaigns.some((each) => each.id === id));
  for (const id of gone) rmSync(fileOf(folder, id), { force: true });
  for (const { id, campaign } of campaigns) writeFileSync(fileOf(folder, id), textOf(campaign));
  const state = Object.fromEntries(campaigns.map(({ id, basedOn }) => [id, basedOn]));
  writeFileSync(join(folder, STATE), textOf(state));
};
