// Properties are played with the same random values in every run, so that a commit either passes or does not. Another
// draw is `PLACARD_SEED=2`, or any other whole number; what it finds becomes a test of its own.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['PLACARD_SEED'] ?? 1) });

export default fc;

/**
 * How often something random is tried. The counts are what a change can wait for; `PLACARD_LONG=20` tries everything
 * twenty times as often, as the run of every night does.
 */
export const times = (count: number): number => Math.ceil(count * Number(process.env['PLACARD_LONG'] ?? 1));
