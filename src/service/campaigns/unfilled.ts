import { errorFacts, type Log } from '../log.ts';
import { createOnceAMinute } from '../once-a-minute.ts';

/** What a template does wrong for one user, in words that quote nothing of theirs: they are logged. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** A property that cannot be filled in for one user; the cause says why, and may quote their data. */
export class UnfilledError extends Error {
  override readonly name = 'UnfilledError';
  readonly property: string;

  constructor(property: string, cause: unknown) {
    super(`The property '${property}' cannot be filled in`, { cause });
    this.property = property;
  }
}

const factsOf = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof UnfilledError)) return errorFacts(error);
  const { property, cause } = error;
  if (cause instanceof TemplateError) return { property, why: cause.message };
  // The library's own errors quote what it was reading.
  return { property, error: cause instanceof Error ? cause.name : typeof cause };
};

export type LogUnfilled = (
  banner: { workspace: string; campaign: string; variant: string | null },
  error: unknown,
  now: number,
) => void;

/** Logs which property keeps a banner from being shown, and why: once a minute for each. */
export const createUnfilledLog = (log: Log): LogUnfilled => {
  const isDue = createOnceAMinute();
  return (banner, error, now) => {
    const facts: Record<string, unknown> = { ...banner, ...factsOf(error) };
    const cause = JSON.stringify([banner.workspace, banner.campaign, banner.variant, facts['property']]);
    if (isDue(cause, now)) log.warn(facts, 'banner not shown: a property cannot be filled in');
  };
};
