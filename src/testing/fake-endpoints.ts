import {
  type ErrorDialect,
  INTEGRATIONS_PATH,
  SYNC_PATH,
  TRACK_PATH,
  USERS_TRACK_PATH,
  VISITOR_JOIN_PATH,
} from '../protocol/index.ts';

/** What the fake answers, and to which key. */
export interface FakeEndpoint {
  method: string;
  dialect: ErrorDialect;
  key: 'client' | 'server';
}

export const ENDPOINTS: Record<string, FakeEndpoint> = {
  [SYNC_PATH]: { method: 'POST', dialect: 'sync', key: 'client' },
  [TRACK_PATH]: { method: 'POST', dialect: 'track', key: 'client' },
  [VISITOR_JOIN_PATH]: { method: 'POST', dialect: 'track', key: 'client' },
  [USERS_TRACK_PATH]: { method: 'POST', dialect: 'general', key: 'server' },
  [INTEGRATIONS_PATH]: { method: 'GET', dialect: 'general', key: 'server' },
};

/** Pages of other origins may call what a client key opens. */
export const isOpenToPages = (path: string): boolean => ENDPOINTS[path]?.key === 'client';

/** The methods that a 405 names. */
export const allowedMethods = ({ method, key }: FakeEndpoint): string => {
  if (method === 'GET') return 'GET, HEAD';
  return key === 'client' ? `${method}, OPTIONS` : method;
};
