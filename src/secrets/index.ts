export { readSecret } from './read-secret.ts';
