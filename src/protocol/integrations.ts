import { parseUrl } from './url.ts';

export const INTEGRATIONS_PATH = '/cdi/integrations';
/** Templates: `{integration_id}` is an integration's ID, percent-encoded. */
export const INTEGRATION_SYNC_PATH = '/cdi/integrations/{integration_id}/sync';
export const JOB_SYNC_STATUS_PATH = '/cdi/integrations/{integration_id}/job_sync_status';

/**
 * One data-ingestion integration. Every member is text; a never-run integration has `""` for times. `contact_emails` is one
 * text even for several addresses.
 */
export interface Integration {
  integration_id: string;
  app_group_id: string;
  integration_name: string;
  integration_type: string;
  integration_status: string;
  contact_emails: string;
  last_updated_at: string;
  warehouse_type: string;
  last_job_start_time: string;
  last_job_status: string;
  next_scheduled_run: string;
}

/** 200 of `GET /cdi/integrations`. */
export interface IntegrationsAnswer {
  results: Integration[];
  message: string;
}

/** One run of an integration. */
export interface JobSyncStatus {
  /** `Running`, `Success`, `Partial` (some rows were rejected) or `Error`. */
  job_status: string;
  sync_start_time: string;
  /** `""` while it runs. */
  sync_finish_time: string;
  /** `UPDATED_AT` of the last row that was read; `""` before the first. */
  last_timestamp_synced: string;
  rows_synced: number;
  /** Rows that were rejected in this run. Those that earlier runs rejected too do not count. */
  rows_failed_with_errors: number;
  /** Why it failed, or what it left for a later run; `""` if there is nothing to say. */
  message: string;
}

/** 200 of `GET /cdi/integrations/{integration_id}/job_sync_status`. */
export interface JobSyncStatusAnswer {
  results: JobSyncStatus[];
  message: string;
}

/** Relation name to target, for example `{ next: '/cdi/integrations?cursor=…' }`. */
export type Links = Record<string, string>;

/** `; rel="next"`: one parameter of a target, at the place where the last one ended. */
const PARAMETER = /\s*;\s*([\w!#$&+\-.^`|~*]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/y;

/**
 * Reads a `Link` header (RFC 8288): targets in angle brackets, separated by commas with or without a space,
 * several relations in one `rel`, parameters quoted or not. What it cannot read it leaves out.
 */
export const parseLink = (header: string | null | undefined): Links => {
  const links: Links = {};
  const text = header ?? '';
  let at = 0;
  for (;;) {
    const open = text.indexOf('<', at);
    const close = text.indexOf('>', open);
    if (open < 0 || close < 0) return links;
    at = close + 1;
    let relation: string | undefined;
    PARAMETER.lastIndex = at;
    for (let found = PARAMETER.exec(text); found; found = PARAMETER.exec(text)) {
      at = PARAMETER.lastIndex;
      const [, name = '', quoted, plain] = found;
      if (name.toLowerCase() === 'rel') relation ??= quoted ?? plain ?? '';
    }
    for (const name of (relation ?? '').toLowerCase().split(/\s+/)) {
      if (name && !Object.hasOwn(links, name)) links[name] = text.slice(open + 1, close);
    }
  }
};

/** Writes the header as the contract shows it: relative targets, `prev` first, a bare comma between. */
export const formatLink = (
  cursors: { prev?: string | undefined; next?: string | undefined },
  path: string = INTEGRATIONS_PATH,
): string | undefined => {
  const parts = (['prev', 'next'] as const).flatMap((relation) => {
    const cursor = cursors[relation];
    return cursor === undefined ? [] : [`<${path}?cursor=${cursor}>; rel="${relation}"`];
  });
  return parts.length > 0 ? parts.join(',') : undefined;
};

/** The cursor of a link target, or `undefined` where it names another origin than `base` (a key must not leak). */
export const cursorOf = (target: string, base: string): string | undefined => {
  const url = parseUrl(target, base);
  if (!url) return undefined;
  // A `+` in a base64 cursor must stay one: URLSearchParams would read it as a space.
  const query = new URLSearchParams(url.search.replaceAll('+', '%2B'));
  return url.origin === new URL(base).origin ? (query.get('cursor') ?? undefined) : undefined;
};
