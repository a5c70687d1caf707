import { AnalyticsBrowser } from '@segment/analytics-next';

export const start = async ({ collector }) => {
  const apiHost = `${collector.replace(/^https?:\/\//, '')}/v1`;
  const [analytics] = await AnalyticsBrowser.load(
    { writeKey: 'key', cdnSettings: { integrations: { 'Segment.io': { apiKey: 'key' } } } },
    { integrations: { 'Segment.io': { apiHost, protocol: 'http' } } },
  );
  return { capture: (marker) => void analytics.track('click', { marker }) };
};
