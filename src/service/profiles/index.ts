// Front door for the staging process of files, which starts once per run and would load the whole service otherwise.
export { lookupKey } from './lookup.ts';
