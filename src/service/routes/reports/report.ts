import * as z from 'zod/mini';
import { described } from '../../../protocol/schemas/index.ts';
import { choice, integer } from '../../api/query.ts';

/** Common settings of the report routes. */
export const REPORT = { method: 'GET', limit: 'reports' } as const;

export const message = z.string().check(described('`success`, or what is wrong.'));

/** Creates the parameter of a required campaign or segment ID. */
export const id = (name: string) =>
  z.string(`'${name}' is required`).check(described(`ID of the ${name.split('_')[0]}.`));

/** Creates the page parameter of a list with a maximum page. */
export const page = (max: number) =>
  integer('page', { min: 0, max, standard: 0, description: 'Page, from 0.' });

export const listQuery = {
  page: page(1_000_000),
  sort_direction: choice('sort_direction', ['asc', 'desc'], '`asc` (default) or `desc`.'),
};

/** Campaigns or segments per page. */
const PAGE_SIZE = 100;

/** Returns a page of a list in creation order. Pages past the end are empty, so connectors stop there. */
export const getPage = <T>(all: readonly T[], page: number, direction: 'asc' | 'desc' = 'asc'): T[] =>
  (direction === 'asc' ? all : all.toReversed()).slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);

/** Formats a time; `null` if none, because typed columns of a warehouse reject `''`. */
export const isoOrNull = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();
