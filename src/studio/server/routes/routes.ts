import type { StudioRoute } from '../route.ts';
import { endAnySession, readAccess, readAudit } from './access.ts';
import { listCampaigns, readCampaignRow } from './campaigns.ts';
import { listData, readIntegration, syncIntegration } from './data.ts';
import { checkOnly, removeDraft, saveDraft } from './drafts.ts';
import { publishEffect } from './effect.ts';
import { createReadNames } from './names.ts';
import { makePreviewLink, preview } from './preview.ts';
import { archive, publish, rollBack, stop } from './publish.ts';
import { createReadReach, createSamples } from './reach.ts';
import { listReleases } from './releases.ts';
import { downloadResults, readNumbers, readResults } from './results.ts';
import { endSession, readSession } from './session.ts';
import { why } from './why.ts';

/** Every row of the Studio's API but the login. */
export const createStudioRoutes = (): StudioRoute[] => {
  const sampleOf = createSamples();
  return [
    readSession,
    endSession,
    listCampaigns,
    readCampaignRow,
    saveDraft,
    removeDraft,
    checkOnly,
    preview,
    makePreviewLink,
    why,
    readResults,
    downloadResults,
    readNumbers,
    createReadReach(sampleOf),
    createReadNames(sampleOf),
    listReleases,
    publishEffect,
    publish,
    rollBack,
    stop,
    archive,
    readAccess,
    endAnySession,
    readAudit,
    listData,
    readIntegration,
    syncIntegration,
  ];
};
