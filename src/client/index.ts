export { type BannerBootstrap, safeUrl, type UrlUse } from '../protocol/index.ts';
export type { Banner } from './banner.ts';
export type { BannerEvent, EventType } from './banner-event.ts';
export {
  getBooleanProperty,
  getDatetimeProperty,
  getImageProperty,
  getJsonProperty,
  getNumberProperty,
  getStringProperty,
} from './banners/properties.ts';
export type {
  Correct,
  DeadLetter,
  DeliveryChoices,
  DeliveryOptions,
  Diagnostics,
  FlushOutcome,
  InDoubtPolicy,
  Skip,
} from './delivery/index.ts';
export type { OptOutPolicy } from './first/consent.ts';
export { createPlacard } from './first/create-placard.ts';
export type {
  Inspection,
  Inspector,
  PlacementState,
  SlotState,
  ViewState,
} from './inspector/index.ts';
export type { DropReason, FailureKind, Listener, Notice } from './notice.ts';
export type { BannerOptions, PlacardOptions, Platform } from './options.ts';
export type { Placard } from './placard.ts';
export type { Drawn, EmptySlot, PlacementHook, Problem, Slot } from './placement-hook.ts';
export {
  type DefinedPlacement,
  definePlacement,
  type PlacementDefinition,
  type StandardSchema,
} from './placements/define-placement.ts';
export type { Moment, PageLifecycle } from './platform/page-lifecycle.ts';
export type { KeyRange, Store, StoreKey } from './platform/store.ts';
export type { TabLink } from './platform/tab-channel.ts';
