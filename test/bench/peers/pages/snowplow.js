import { flushBuffer, newTracker, trackSelfDescribingEvent } from '@snowplow/browser-tracker';

export const start = async ({ collector }) => {
  newTracker('bench', collector, { appId: 'shop', encodeBase64: false });
  return {
    capture: (marker) =>
      trackSelfDescribingEvent({
        event: { schema: 'iglu:com.example/click/jsonschema/1-0-0', data: { marker } },
      }),
    flush: () => flushBuffer(),
  };
};
