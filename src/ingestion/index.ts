export { type CheckedSourceRow, checkSource } from './check-source.ts';
export type { EndedRun } from './run-outcome.ts';
export { type IngestionOptions, startIngestion } from './start-ingestion.ts';
