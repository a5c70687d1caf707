export { type IngestionOptions, startIngestion } from './start-ingestion.ts';
