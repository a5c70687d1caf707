import { initialize, logCustomEvent, openSession, requestImmediateDataFlush } from '@braze/web-sdk';

export const start = async ({ collector }) => {
  initialize('key', { baseUrl: collector, allowUserSuppliedJavascript: false, noCookies: true });
  openSession();
  return {
    capture: (marker) => logCustomEvent('click', { marker }),
    flush: () => requestImmediateDataFlush(),
  };
};
