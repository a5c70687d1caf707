import type { Banner } from '../banner.ts';
import type { PlacementHook, Problem } from '../placement-hook.ts';

/** Two answers for the same banner are equal as data; the cache reads its record anew now and then. */
export const isSameBanner = (a: Banner | null | undefined, b: Banner | null | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** A problem in words, with the property that has it. */
export const problemText = ({ message, path = [] }: Problem): string =>
  [path.map((part) => String(Object(part).key ?? part)).join('.'), message].filter(Boolean).join(': ');

interface CheckOptions {
  hook: PlacementHook;
  /** The banner does not fit its placement. */
  onProblems: (banner: Banner, problems: readonly Problem[]) => void;
  /** The check itself threw. */
  onError: (cause: unknown) => void;
  /** A check that took its time has come to its end. */
  onLate: () => void;
}

/** Calls a hook's check once for a banner, and keeps its verdict until there is another banner. */
export const createBannerCheck = ({ hook, onProblems, onError, onLate }: CheckOptions) => {
  let last: { banner: Banner; problems: readonly Problem[] | null } | undefined;

  const check = {
    /** The banner's problems; `null` while an asynchronous check runs. */
    problems(banner: Banner): readonly Problem[] | null {
      if (last && isSameBanner(last.banner, banner)) return last.problems;
      if (banner.isControl || !hook.check) return [];
      const mine: typeof last = { banner, problems: null };
      last = mine;
      const settle = (problems: readonly Problem[]): void => {
        mine.problems = problems;
        if (problems.length > 0) onProblems(banner, problems);
      };
      const fail = (cause: unknown): void => {
        onError(cause);
        mine.problems = [{ message: 'The hook threw' }];
      };
      try {
        const problems = hook.check(banner) as Partial<Promise<readonly Problem[]>> & readonly Problem[];
        // Recognised by its `then`, and made a promise of ours: it may be another library's, as with zone.js. Not by `in`: a host
        // in JavaScript answers `false` as well, where a banner fits.
        if (problems.then) void Promise.resolve(problems).then(settle).catch(fail).then(onLate);
        else settle(problems);
      } catch (cause) {
        fail(cause);
      }
      return mine.problems;
    },

    /** The very object that was checked, so that a hook finds what it learned from it. */
    checked: (banner: Banner): Banner => (last && isSameBanner(last.banner, banner) ? last.banner : banner),

    /** The hook threw at this banner: it is not tried again. */
    markInvalid(banner: Banner): void {
      last = { banner, problems: [{ message: 'The hook threw' }] };
    },
  };
  return check;
};

export type BannerCheck = ReturnType<typeof createBannerCheck>;
