import mixpanel from 'mixpanel-browser';

export const start = async ({ collector }) => {
  mixpanel.init('token', { api_host: collector, persistence: 'localStorage', track_pageview: false });
  return { capture: (marker) => void mixpanel.track('click', { marker }) };
};
