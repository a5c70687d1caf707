import { notValid } from '../../protocol/index.ts';
import { HttpError } from '../http/exchange.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** What the endpoints for pages have in common. */
export const FOR_PAGES = { method: 'POST', rate: 'banners', crossOrigin: true } as const;

/** With which the examples of these endpoints begin. */
export const ENVELOPE_EXAMPLE = {
  external_user_id: 'u-771',
  app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
  app_version: '4.2.0',
};

/** What no schema can know: the apps of the workspace. */
export const refuseUnknownApp = ({ appIds }: Workspace, appId: string): void => {
  if (!appIds.has(appId)) throw new HttpError(400, notValid('app_id'));
};
