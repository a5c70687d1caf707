import { EXPLAIN_PATH, type ExplainAnswer, type ExplainRequest } from '../protocol/index.ts';
import type { Call } from './call.ts';

/** Explains which banners a user gets. Needs a key with `campaigns.explain`; only Placard's service answers it. */
export const createExplain =
  (call: Call) =>
  async (input: ExplainRequest, signal?: AbortSignal): Promise<ExplainAnswer> => {
    const body = JSON.stringify(input);
    const request = { method: 'POST', path: EXPLAIN_PATH, resetKind: 'epoch', repeatable: true } as const;
    return (await call({ ...request, body, signal })).body as ExplainAnswer;
  };
