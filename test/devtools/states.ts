import type {
  Diagnostics,
  Inspection,
  Notice,
  PlacementState,
  SlotState,
  ViewState,
} from '../../src/client/index.ts';
import type { PanelState } from '../../src/devtools/panel-state.ts';
import { buildBanner } from '../helpers/a-banner.ts';

export const NOW = Date.UTC(2026, 4, 1, 12);

export const aView = (changes: Partial<ViewState> = {}): ViewState => ({
  dwellMs: 0,
  requiredMs: 1_000,
  requiredShare: 0.5,
  isCovered: false,
  isInvisible: false,
  isBusy: false,
  isSeen: false,
  ...changes,
});

/** A 300 × 250 px slot that shows its banner. */
export const aSlot = (changes: Partial<SlotState> = {}): SlotState => {
  const element = document.createElement('div');
  element.getBoundingClientRect = () => ({ width: 300, height: 250 }) as DOMRect;
  return { element, shown: buildBanner(), emptyReason: null, issues: [], view: aView(), ...changes };
};

export const anEmptySlot = (changes: Partial<SlotState> = {}): SlotState =>
  aSlot({ shown: null, emptyReason: 'none', ...changes });

export const aPlacement = (changes: Partial<PlacementState> = {}): PlacementState => ({
  placementId: 'home_hero',
  banner: buildBanner(),
  fetchedAt: NOW - 90_000,
  from: 'sync',
  isExpired: false,
  isDismissed: false,
  snoozedUntil: null,
  isFocused: false,
  isHidden: false,
  slots: [],
  ...changes,
});

export const anInspection = (changes: Partial<Inspection> = {}): Inspection => ({
  endpoint: 'https://api.example',
  appId: 'app',
  appVersion: '1.0.0',
  userId: 'u-1',
  isActive: true,
  session: { id: 's-1', endsAt: NOW + 30 * 60_000, refreshesLeft: 5 },
  clockSkewMs: 0,
  syncWaitsUntil: null,
  sandbox: { isOn: false, events: [] },
  recent: [],
  placements: [],
  ...changes,
});

export const getDiagnostics = (changes: Partial<Diagnostics> = {}): Diagnostics => ({
  captured: 0,
  delivered: 0,
  pending: 0,
  inDoubt: 0,
  deadLetters: 0,
  discarded: 0,
  evicted: 0,
  expired: 0,
  purged: 0,
  memoryMode: false,
  isLeader: true,
  pausedUntil: null,
  ...changes,
});

export const heard = (notice: Exclude<Notice, { type: 'changed' }>, at = NOW) => ({ at, notice });

export const aPanelState = (changes: Partial<PanelState> = {}): PanelState => ({
  inspection: anInspection(),
  diagnostics: getDiagnostics(),
  history: [],
  now: NOW,
  ...changes,
});
