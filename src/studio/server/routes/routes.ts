import type { StudioRoute } from '../route.ts';
import { endAnySession, endSession, readAccess, readAudit, readSession } from './access.ts';
import { createReadAlerts } from './alerts.ts';
import { listCampaigns, readCampaignRow } from './campaigns.ts';
import { listData, readIntegration, syncIntegration } from './data.ts';
import { checkOnly, removeDraft, saveDraft } from './drafts.ts';
import { listImages, removeImage, uploadImage } from './images.ts';
import { inviteOperator, removeOperator } from './operators.ts';
import { explainRoute, makePreviewLink, preview } from './preview.ts';
import { promote } from './promote.ts';
import { createReadReach, createSamples, readPublishImpact } from './publish-impact.ts';
import {
  archive,
  cancelScheduled,
  endTest,
  listReleases,
  moveScheduled,
  publish,
  rollBack,
  stop,
} from './releases.ts';
import { downloadResults, readCampaignStats, readResults } from './results.ts';
import { reportPresence, reviewDraft } from './review.ts';
import { readSchedule } from './schedule.ts';
import { createListSegments, createReadSegmentImpact, removeSegment, saveSegment } from './segments.ts';
import { createReadSuggestions } from './suggestions.ts';
import { readSampleSize, readSchema, recordToolCall } from './tools.ts';
import { exportTranslations, importTranslations } from './translations.ts';
import {
  listWebhooks,
  readWebhook,
  replayWebhook,
  resendMessage,
  resumeWebhook,
  testWebhook,
} from './webhooks.ts';

/** Returns all routes of the Studio's API except sign-in. */
export const createStudioRoutes = (): StudioRoute[] => {
  const loadSample = createSamples();
  return [
    readSession,
    readSchema,
    readSampleSize,
    recordToolCall,
    endSession,
    listCampaigns,
    readCampaignRow,
    saveDraft,
    removeDraft,
    reviewDraft,
    reportPresence,
    checkOnly,
    preview,
    exportTranslations,
    importTranslations,
    listImages,
    uploadImage,
    removeImage,
    makePreviewLink,
    explainRoute,
    readResults,
    downloadResults,
    readCampaignStats,
    createReadReach(loadSample),
    createReadSuggestions(loadSample),
    createListSegments(loadSample),
    createReadSegmentImpact(loadSample),
    saveSegment,
    removeSegment,
    listReleases,
    readPublishImpact,
    publish,
    rollBack,
    cancelScheduled,
    moveScheduled,
    readSchedule,
    stop,
    endTest,
    archive,
    promote,
    createReadAlerts(),
    readAccess,
    endAnySession,
    inviteOperator,
    removeOperator,
    readAudit,
    listData,
    readIntegration,
    syncIntegration,
    listWebhooks,
    readWebhook,
    testWebhook,
    resendMessage,
    replayWebhook,
    resumeWebhook,
  ];
};
