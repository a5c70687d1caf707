export { type BannerBootstrap, safeUrl, type UrlUse } from '../protocol/index.ts';
export type { Addition } from './addition.ts';
export { liveUpdates, selectors, userTokens, visitors } from './additions.ts';
export type { Banner, BannerEvent, EventType, TrackOptions } from './banner.ts';
export {
  getBooleanProperty,
  getDatetimeProperty,
  getImageProperty,
  getJsonProperty,
  getNumberProperty,
  getStringProperty,
} from './banners/properties.ts';
export { createPlacard } from './create-placard.ts';
export type {
  DeadLetter,
  Diagnostics,
  FlushResult,
  OnEventRejected,
  Rejection,
} from './delivery/delivery.ts';
export type { Inspection, Inspector, PlacementState, SlotState, ViewState } from './inspector/inspector.ts';
export type { DropReason, FailureKind, Listener, Notice } from './notices.ts';
export type {
  BannerOptions,
  DeliveryChoices,
  DeliveryGuarantee,
  DeliveryOptions,
} from './options/option-schema.ts';
export type { PlacardOptions, Platform } from './options/options.ts';
export type { OptOutPolicy } from './permission.ts';
export type { Placard } from './placard.ts';
export type { Issue, PlacementCleanup, PlacementHook, Slot, SlotContext } from './placement-hook.ts';
export {
  type DefinedPlacement,
  definePlacement,
  type PlacementDefinition,
  type StandardSchema,
} from './placements/define-placement.ts';
export type { BroadcastChannelLike, LifecycleEvent, PageLifecycle } from './platform/page.ts';
export type { KeyRange, Store, StoreKey } from './platform/store.ts';
