export { type DevtoolsOptions, openDevtools } from './open-devtools.ts';
