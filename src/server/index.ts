export type {
  AttributesObject,
  BannerBootstrap,
  EventObject,
  ExplainRequest,
  ExplainResult,
  InputArray,
  Instance,
  Integration,
  JobSyncStatus,
  PurchaseObject,
  RateLimitInfo,
} from '../protocol/index.ts';
export { ApiError, ConnectionError, InDoubtError } from './api-error.ts';
export { type FetchBannersOptions, fetchBanners } from './fetch-banners.ts';
export type { ExportInput, ExportResponse, IdentifyInput, MergeIdentifier } from './profiles.ts';
export { createRestClient, type RestClient, type RestClientOptions } from './rest-client.ts';
export { type PrivateJwk, type SignUserTokenOptions, signUserToken } from './sign-user-token.ts';
export type { RequestState, TrackOptions } from './track.ts';
export { isIdempotent } from './track-batches.ts';
export type { TrackInput, TrackObject } from './track-input.ts';
export type { TrackPosition, TrackProblem } from './track-problem.ts';
export {
  type TrackReport,
  TrackStoppedError,
} from './track-report.ts';
