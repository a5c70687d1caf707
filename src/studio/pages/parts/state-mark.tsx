import type { ScheduleState } from '../../campaign/schedule-state.ts';

const WORDS: Record<ScheduleState, string> = {
  draft: 'Draft',
  stopped: 'Stopped',
  planned: 'Planned',
  live: 'Live',
  over: 'Over',
};

/** Whether a campaign runs: a sign and a word, so that neither colour nor sight alone tells it. */
export const StateMark = ({ state }: { state: ScheduleState }) => (
  <span class="state" data-state={state}>
    {WORDS[state]}
  </span>
);
