// Entry point for the process that stages files, which starts once per run and would otherwise load the whole service.
export { toIdentifier } from './lookup.ts';
