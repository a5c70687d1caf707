export type { Banner } from '../protocol/index.ts';
