export { findPersonalIdentifiers } from './campaigns/audience/audience.ts';
export { findCampaignIds, NON_ATTRIBUTE_FIELDS } from './campaigns/audience/fields.ts';
export { findSegmentIds, type Segment, segmentProblems } from './campaigns/audience/segments.ts';
export { createGetBannerIds } from './campaigns/banner-id.ts';
export { type Campaign, readGoal } from './campaigns/campaign.ts';
export { priorityOrder } from './campaigns/campaign-order.ts';
export { impressionsSince } from './campaigns/frequency.ts';
export { personaProfile, previewVariant } from './campaigns/preview-variant.ts';
export { countReach, REACH_SAMPLE, type Reach } from './campaigns/reach.ts';
export { createCheckBudget } from './campaigns/render-budget.ts';
export { getSuspension } from './campaigns/render-errors.ts';
export { cpuTimeMs } from './cpu-time.ts';
export { formatCursor, parseCursor } from './data-out/cursor.ts';
export { cursorSince } from './data-out/cursor-since.ts';
export type { DataEvent, FindWorkspace } from './data-out/data-event.ts';
export { DATA_EVENT_NAMES, type DataEventName, isDataEventName } from './data-out/event-types.ts';
export { fileColumns, fileRow } from './data-out/formats.ts';
export { readEvents } from './data-out/read-events.ts';
export { type FileFormat, removeUnfinished, writePartitions } from './data-out/write-files.ts';
export { explain } from './explain/explain.ts';
export { formatCsvCell, parseCsvCell } from './export/csv.ts';
export { EXPORT_KINDS, type ExportKind, exportLines } from './export/lines.ts';
export type { RequestBody } from './http/body.ts';
export { createFetch } from './http/fetch.ts';
export {
  type HandlerResult,
  HttpError,
  type HttpRequest,
  type HttpResponse,
} from './http/http-request.ts';
export { isLoopback } from './http/loopback.ts';
export { type Call, createRouter, type Endpoint, type Params } from './http/router.ts';
export { type ListenOptions, type ServedPort, servePort } from './http/serve-port.ts';
export {
  type BatchRecord,
  type IngestionReject,
  type IngestionRun,
  type IngestionState,
  type IngestionStore,
  type OpenReject,
  type StoredReject,
  stampText,
  type Watermark,
} from './integrations/ingestion-records.ts';
export { batchStatements } from './integrations/ingestion-store.ts';
export { nextRunMs } from './integrations/schedule.ts';
export type { CampaignIssueCode, Issue, IssueFacts, LocatedIssue } from './issues.ts';
export { type Log, serializeError, silentLog } from './log.ts';
export { type Counts, EVENT_COUNT_NAMES, type EventCounts } from './measures.ts';
export type { MissingSelector } from './missing-selectors.ts';
export {
  type AuditEntry,
  createRevision,
  IMAGE_TYPES,
  type Image,
  type ImageType,
  type InvitedOperator,
  type NewAuditEntry,
  type OperatorSession,
  type ReviewEntry,
  type SessionCredential,
  type StoredDraft,
  VIEW_USER,
} from './operators/index.ts';
export { HOLDOUT_TREATMENT, isHoldoutId } from './profiles/holdout-id.ts';
export type { Profile } from './profiles/profile.ts';
export { IMAGES_PATH } from './public-endpoints/images.ts';
export { getSegments } from './releases/compile-releases.ts';
export {
  type EndedTestResults,
  type NewRelease,
  type Release,
  type ReleasedSegment,
  STOP_CONDITIONS,
  type WithRelease,
} from './releases/releases.ts';
export { type ReleaseSource, watchReleases } from './releases/watch-releases.ts';
export { repeatUntilAborted } from './repeat-until-aborted.ts';
export type { ButtonResults } from './results/button-results.ts';
export type { Goal } from './results/goals.ts';
export type {
  ArmResults,
  CampaignResults,
  CampaignSummary,
  DayResults,
  LanguageResults,
  PlacementResults,
  ResultsQuery,
} from './results/read.ts';
export { toIntegrationRecord } from './routes/cdi-integrations.ts';
export { createPreviewTokens } from './routes/preview.ts';
export {
  createService,
  type Listening,
  listen,
  type Service,
  type ServiceOptions,
} from './service.ts';
export { FEED_START } from './sql/feed.ts';
export {
  backupStore,
  isPostgres,
  isTooLow,
  openForMaintenance,
  openStore,
  openStoreReader,
  pruneStore,
  vacuumStore,
} from './store/index.ts';
export { connect as connectPostgres, toConnectionString } from './store/postgres/connect.ts';
export { inTransaction, type Run } from './store/postgres/statement.ts';
export type { Store, StoreReader, TargetingData } from './store/store.ts';
export type { StudioStore } from './store/studio-store.ts';
export { isRejected, TransientError } from './store/write-errors.ts';
export { suggest } from './suggest.ts';
export type { MetricValues, SpanOptions, Telemetry } from './telemetry.ts';
export { tuneProcess } from './tune-process.ts';
export { type CheckedRow, checkRow, ingestMutation, RowRejectedError } from './users/ingest-rows.ts';
export { trackUsers } from './users/track.ts';
export type { Alert } from './webhooks/alert.ts';
export { createPost } from './webhooks/post.ts';
export { retryDelayMs } from './webhooks/retry.ts';
export { sendMessage } from './webhooks/send-message.ts';
export { startWebhooks } from './webhooks/start-webhooks.ts';
export type { Webhook } from './webhooks/webhook.ts';
export { TEST_PREFIX, type WebhookAttempt } from './webhooks/webhook-store.ts';
export type { CampaignInput } from './workspace/campaign-schema.ts';
export { campaignJsonSchema } from './workspace/file-schema.ts';
export { formatIssue, WorkspaceError } from './workspace/issues.ts';
export { loadWorkspaces } from './workspace/load-workspaces.ts';
export { parseWorkspace } from './workspace/parse-workspace.ts';
export { readCampaign } from './workspace/read-campaign.ts';
export {
  type OpenIdSettings,
  type Operator,
  operatorFile,
  type PlacementTemplate,
} from './workspace/studio-settings.ts';
export {
  type WatchedSource,
  type WatchOptions,
  type WorkspaceSource,
  watchWorkspaces,
} from './workspace/watch-workspaces.ts';
export type { Placement, Registry, Source, Workspace, WorkspaceIntegration } from './workspace/workspace.ts';
