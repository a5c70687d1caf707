import type { Updates } from '../banners/updates.ts';
import type { LateContext } from '../late/late-context.ts';
import type { Inspection, Inspector } from './inspection.ts';
import { type ReadPlacementsOptions, readPlacements } from './read-placements.ts';
import type { Sandbox } from './sandbox.ts';

export type { Inspection, Inspector, PlacementState, SlotState, ViewState } from './inspection.ts';
export { createSandbox, type Sandbox } from './sandbox.ts';

interface InspectorOptions extends ReadPlacementsOptions, Pick<LateContext, 'settings' | 'isActive'> {
  sandbox: Sandbox;
  updates: Pick<Updates, 'session' | 'syncBlockedUntilMs'>;
  recent: () => Inspection['recent'];
  preview: Inspector['preview'];
}

/** Says what the client knows. A chunk of its own: only a page that inspects loads it. */
export const createInspector = (options: InspectorOptions): Inspector => {
  const { settings, cache, sandbox, isActive, updates, recent } = options;
  const { endpoint, appId, appVersion, platform } = settings;
  return {
    read() {
      const waitsUntil = updates.syncBlockedUntilMs();
      return {
        endpoint,
        appId,
        appVersion,
        userId: cache.userId(),
        isActive: isActive(),
        session: updates.session(),
        clockSkewMs: cache.record().clockSkewMs,
        syncWaitsUntil: waitsUntil > platform.now() ? waitsUntil : null,
        sandbox: sandbox.state(),
        recent: recent(),
        placements: readPlacements(options),
      };
    },
    focus: sandbox.focus,
    sandbox: sandbox.turn,
    preview: options.preview,
  };
};
