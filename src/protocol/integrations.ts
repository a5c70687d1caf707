import { parseUrl } from './url.ts';

export const INTEGRATIONS_PATH = '/cdi/integrations';
/** Path templates: `{integration_id}` is the percent-encoded ID of an integration. */
export const INTEGRATION_SYNC_PATH = '/cdi/integrations/{integration_id}/sync';
export const JOB_SYNC_STATUS_PATH = '/cdi/integrations/{integration_id}/job_sync_status';

/**
 * Data-ingestion integration. All properties are strings; times are `""` before the first run. `contact_emails` is one string
 * even for several addresses.
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

/** One run of an integration. */
export interface JobSyncStatus {
  /** `Running`, `Success`, `Partial` (some rows were rejected) or `Error`. */
  job_status: string;
  sync_start_time: string;
  /** `""` while running. */
  sync_finish_time: string;
  /** `UPDATED_AT` of the last row read; `""` before the first row. */
  last_timestamp_synced: string;
  rows_synced: number;
  /** Number of rows rejected in this run, excluding rows rejected by earlier runs. */
  rows_failed_with_errors: number;
  /** Reason for a failure, or work left for a later run; `""` if none. */
  message: string;
}

/** Link targets by relation, for example `{ next: '/cdi/integrations?cursor=…' }`. */
export type Links = Record<string, string>;

/** Matches one parameter of a link target, such as `; rel="next"`, from the end of the previous parameter. */
const PARAMETER = /\s*;\s*([\w!#$&+\-.^`|~*]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/y;

/**
 * Parses a `Link` header (RFC 8288). Accepts commas with or without a space, several relations in one `rel`, and quoted or
 * unquoted parameters. Skips invalid parts.
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

/** Formats the `Link` header as in the contract: relative targets, `prev` first, separated by a comma without a space. */
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

/** Returns the cursor of a link target; `undefined` if its origin is not that of `base`, because a key must not leak. */
export const findCursor = (target: string, base: string): string | undefined => {
  const url = parseUrl(target, base);
  if (!url) return undefined;
  // Preserves `+` in a base64 cursor, which URLSearchParams would decode as a space.
  const query = new URLSearchParams(url.search.replaceAll('+', '%2B'));
  return url.origin === new URL(base).origin ? (query.get('cursor') ?? undefined) : undefined;
};
