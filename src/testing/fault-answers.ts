import { type ErrorDialect, errorBody, FATAL } from '../protocol/index.ts';
import type { FakeAnswer, ForcedErrors } from './fake-answer.ts';
import type { Fault } from './fault.ts';
import { refusalHeaders } from './fault-headers.ts';

const PORTAL_PAGE = '<!doctype html><title>Welcome</title><p>Please accept the terms of this network.</p>';

/** Which faults hinder the service from taking the request, and the answer they give instead. */
export const notTaken = (
  fault: Fault,
  dialect: ErrorDialect,
  path: string,
  now: number,
): FakeAnswer | undefined => {
  switch (fault.type) {
    case 'status':
      return {
        status: fault.status,
        body: fault.body ?? errorBody(dialect, `Status ${fault.status}`),
        headers: fault.headers ?? {},
      };
    case 'rate-limit':
      return {
        status: 429,
        body: errorBody(dialect, FATAL.overRateLimit),
        headers: refusalHeaders(fault.form ?? 'banners', fault.afterSeconds, path, now),
      };
    case 'portal':
      return { status: 200, body: PORTAL_PAGE };
    case 'redirect':
      return { status: fault.status ?? 307, body: '', headers: { Location: fault.to } };
    default:
      return undefined;
  }
};

/** What a fault makes the answer of a request that is taken say of its events. */
export const forcedErrors = (fault: Fault | undefined): ForcedErrors => {
  if (fault?.type === 'skip') {
    return { skip: { indices: fault.indices, reason: fault.reason ?? 'Refused by the test' } };
  }
  if (fault?.type !== 'errors') return {};
  const { errors, processed } = fault;
  return { raw: { errors, ...(processed !== undefined && { processed }) } };
};
