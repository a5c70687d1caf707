import { captureMessage, init, makeBrowserOfflineTransport, makeFetchTransport } from '@sentry/browser';

export const start = async ({ collector }) => {
  init({
    dsn: `${collector.replace('://', '://key@')}/1`,
    defaultIntegrations: false,
    transport: makeBrowserOfflineTransport(makeFetchTransport),
  });
  return { capture: (marker) => void captureMessage(marker) };
};
