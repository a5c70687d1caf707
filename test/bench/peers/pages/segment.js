import { AnalyticsBrowser } from '@segment/analytics-next';

export const start = async ({ collector }) => {
  const apiHost = `${collector.replace(/^https?:\/\//, '')}/v1`;
  const [analytics] = await AnalyticsBrowser.load(
    { writeKey: 'key', cdnSettings: { integrations: { 'Segment.io': { apiKey: 'key' } } } },
    {
      integrations: {
        'Segment.io': {
          apiHost,
          protocol: 'http',
          deliveryStrategy: { strategy: 'batching', config: { size: 50, timeout: 5000 } },
        },
      },
    },
  );
  return { capture: (marker) => void analytics.track('click', { marker }) };
};
