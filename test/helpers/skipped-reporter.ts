import type { Reporter, TestModule, Vitest } from 'vitest/node';

const MAX_NAMES = 3;

/** Says at the end of a run which tests were skipped, and what would bring them. */
export default class SkippedReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest) {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]) {
    // A run of tests by name has skipped the others on purpose.
    if (this.#vitest?.config.testNamePattern) return;
    const skipped = new Map<string, string[]>();
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const result = test.result();
        const reason =
          test.meta().needs ?? (result.state === 'skipped' ? result.note : undefined) ?? 'no reason given';
        const key = `${module.relativeModuleId}, ${reason}`;
        skipped.set(key, [...(skipped.get(key) ?? []), test.fullName]);
      }
    }
    if (skipped.size === 0) return;
    console.log(' Skipped on this machine:');
    for (const [key, names] of skipped) {
      console.log(`  ${key}`);
      for (const name of names.slice(0, MAX_NAMES)) console.log(`    - ${name}`);
      if (names.length > MAX_NAMES)
        console.log(`    - and ${names.length - MAX_NAMES} more of the same file`);
    }
  }
}
