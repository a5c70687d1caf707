import { createOperatorStore, OPERATOR_TABLES, type OperatorStore } from '../operators/index.ts';
import { createReleaseStore, RELEASES, type ReleaseStore } from '../releases/releases.ts';
import type { RunSql, RunTogether } from '../sql/row-readers.ts';

export const STUDIO_TABLES = [RELEASES, ...OPERATOR_TABLES];

/** The Studio's tables. */
export interface StudioStore extends ReleaseStore, OperatorStore {}

export const createStudioStore = (run: RunSql, runTogether: RunTogether): StudioStore => ({
  ...createReleaseStore(run, runTogether),
  ...createOperatorStore(run),
});
