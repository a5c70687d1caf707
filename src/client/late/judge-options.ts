import { chosenOptions } from '../first/chosen-options.ts';
import type { Notify } from '../notice.ts';
import type { PlacardOptions } from '../options.ts';

/** Reports what the first paint has no room to judge: a consent that is neither given nor withheld, and unknown options. */
export const judgeOptions = (options: PlacardOptions, notify: Notify): void => {
  const { endpoint, apiKey, appId, appVersion, deviceId, platform, ...others } = options;
  const { instance, userId, correct, delivery, userToken, visitors, banners, bootstrap, debug, ...judged } =
    others;
  if (bootstrap && (bootstrap.version !== 1 || bootstrap.appId !== appId)) {
    const message = 'Option "bootstrap" must be of this app and of version 1';
    notify({ type: 'failed', kind: 'config', message });
  }
  chosenOptions<typeof judged>('', { consent: 'disabled' }, judged, notify, {
    consent: ['enabled', 'disabled', 'pending'],
  });
};
