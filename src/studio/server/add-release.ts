import { HttpError } from '../../service/index.ts';
import { checkDraft } from './check-draft.ts';
import type { StudioContext } from './route.ts';
import { releaseRow } from './routes/releases.ts';

export interface PublishedAnswer {
  release: number;
  liveAt: string;
}

/** Where the campaigns are in the workspace file nothing is released. */
export const refuseFileMode = ({ workspace }: StudioContext) => {
  if (workspace.campaignsFrom === 'studio') return;
  throw new HttpError(
    403,
    'The campaigns of this workspace are in its file: copy the change into it, or set "campaigns_from" to "studio" there',
  );
};

export const refuseErrors = (campaign: unknown, { workspace, nowMs }: StudioContext) => {
  const errors = checkDraft(campaign, workspace, nowMs).filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  throw new HttpError(422, 'This cannot be published as it is', { members: { checks: errors } });
};

/** Adds the release, or refuses with what was published in the meantime. */
export const addRelease = async (
  context: StudioContext,
  made: { campaignId: string; campaign: unknown; basedOn: number; note: string; liveAtMs: number },
): Promise<PublishedAnswer> => {
  const { studio, workspace, operator, nowMs } = context;
  const { workspaceId } = workspace;
  const release = await studio.addRelease({
    ...made,
    workspaceId,
    author: operator.name,
    createdAtMs: nowMs,
  });
  if (release === null) {
    const [theirs] = await studio.releases(workspaceId, { campaignId: made.campaignId, limit: 1 });
    throw new HttpError(409, 'Somebody else has published this campaign since you began', {
      members: { theirs: theirs ? releaseRow(theirs) : null },
    });
  }
  await context.refresh();
  return { release, liveAt: new Date(made.liveAtMs).toISOString() };
};
