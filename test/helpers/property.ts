// Property tests use the same seed in every run, so that a commit either passes or fails. `PLACARD_SEED=2`, or any other
// integer, draws other values; a counterexample becomes a separate test.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['PLACARD_SEED'] ?? 1) });

export default fc;

/**
 * Returns the number of runs of a random test. `PLACARD_LONG=20` multiplies it by 20, as the nightly run does.
 */
export const times = (count: number): number => Math.ceil(count * Number(process.env['PLACARD_LONG'] ?? 1));
