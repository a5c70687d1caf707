// Property tests use the same seed in every run, so that a commit either passes or fails. `PLACARD_SEED=2`, or any other
// integer, draws other values; a counterexample becomes a separate test.
import fc from 'fast-check';
import { needs } from './machine.ts';

fc.configureGlobal({ seed: Number(process.env['PLACARD_SEED'] ?? 1) });

export default fc;

/**
 * Returns the number of runs of a random test. `PLACARD_LONG=20` multiplies it by 20, as the nightly run does.
 */
export const times = (count: number): number => Math.ceil(count * Number(process.env['PLACARD_LONG'] ?? 1));

/** Test options of a test that only the nightly run makes, because it takes long and its parts are also tested alone. */
export const nightly = (): { skip: boolean; meta: { needs: string } } =>
  needs('PLACARD_LONG=20, as the nightly run', Number(process.env['PLACARD_LONG'] ?? 1) > 1);
