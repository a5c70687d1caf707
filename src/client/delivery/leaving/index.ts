export { handOffMessages } from './hand-off.ts';
export { createLeaving } from './leaving.ts';
