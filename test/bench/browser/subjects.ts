import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getVersion } from '../../helpers/bundlers.ts';
import { BROWSER_PACKAGE_ENTRIES } from '../../helpers/size-budgets.ts';

/** Folder of the peers, which only the bench installs. */
export const PEERS_FOLDER = fileURLToPath(new URL('../peers/', import.meta.url));

/** A package under measurement: ours or a peer's. */
export interface Subject {
  name: string;
  /** npm version; none for ours. */
  npm?: string;
  /** Script that starts it and captures events, relative to the repository root. */
  page: string;
  /** Source of an application that uses it for the same job; decides what is bundled. */
  code: string;
}

const page = (name: string) => `test/bench/peers/pages/${name}.js`;

export const SUBJECTS: Subject[] = [
  {
    name: 'Placard',
    page: page('placard'),
    code: BROWSER_PACKAGE_ENTRIES['.'],
  },
  {
    name: 'Braze',
    npm: '@braze/web-sdk',
    page: page('braze'),
    code: `import { initialize, openSession, changeUser, requestBannersRefresh, subscribeToBannersUpdates, insertBanner,
      getBanner, logBannerClick, logBannerImpressions, requestImmediateDataFlush } from '@braze/web-sdk';
      globalThis.run = [initialize, openSession, changeUser, requestBannersRefresh, subscribeToBannersUpdates, insertBanner,
      getBanner, logBannerClick, logBannerImpressions, requestImmediateDataFlush];`,
  },
  {
    name: 'Segment',
    npm: '@segment/analytics-next',
    page: page('segment'),
    code: `import { AnalyticsBrowser } from '@segment/analytics-next'; globalThis.run = AnalyticsBrowser;`,
  },
  {
    name: 'Snowplow',
    npm: '@snowplow/browser-tracker',
    page: page('snowplow'),
    code: `import { newTracker, trackSelfDescribingEvent, flushBuffer, setUserId } from '@snowplow/browser-tracker';
      globalThis.run = [newTracker, trackSelfDescribingEvent, flushBuffer, setUserId];`,
  },
  {
    name: 'Mixpanel',
    npm: 'mixpanel-browser',
    page: page('mixpanel'),
    code: `import mixpanel from 'mixpanel-browser'; globalThis.run = mixpanel;`,
  },
  {
    name: 'Sentry offline',
    npm: '@sentry/browser',
    page: page('sentry'),
    code: `import { init, captureMessage, makeBrowserOfflineTransport, makeFetchTransport } from '@sentry/browser';
      globalThis.run = [init, captureMessage, makeBrowserOfflineTransport, makeFetchTransport];`,
  },
];

/** Installs the peers from their lock file, once. */
export const installPeers = async (): Promise<void> => {
  if (SUBJECTS.every(({ npm }) => !npm || existsSync(`${PEERS_FOLDER}node_modules/${npm}`))) return;
  await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: PEERS_FOLDER });
};

/** `Segment 1.84.3` */
export const getTitle = async ({ name, npm }: Subject): Promise<string> =>
  npm === undefined ? name : `${name} ${await getVersion(npm, PEERS_FOLDER)}`;
