import { checkAttributes, checkEvent } from '../../../src/service/users/check-objects.ts';
import { createErrorCollector } from '../../../src/service/users/error-collector.ts';
import type { CheckedTrack } from '../../../src/service/users/track-mutation.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { aWorkspace } from '../../helpers/a-workspace.ts';

export const GROUP = '7d1f2a00-0000-4000-8000-000000000001';
const NOW = Date.UTC(2026, 2, 1);
export const TIME = '2026-02-01T00:00:00Z';

const workspace = parseWorkspace(
  aWorkspace({
    subscription_groups: [{ subscription_group_id: GROUP, name: 'Newsletter', channel: 'email' }],
  }),
  'test',
);

/** Objects of a request after validation. */
export const aTrack = ({
  attributes = [],
  events = [],
  purchases = [],
}: {
  attributes?: object[];
  events?: object[];
  purchases?: object[];
}): CheckedTrack => {
  const problems = createErrorCollector();
  const taken = <T>(checked: T | null): T[] => (checked === null ? [] : [checked]);
  const getEvent = (array: 'events' | 'purchases') => (object: object) =>
    taken(checkEvent(object, array, workspace, NOW, problems));
  return {
    workspaceId: 'test',
    nowMs: NOW,
    attributes: attributes.flatMap((object) => taken(checkAttributes(object, workspace, problems))),
    events: [...events.flatMap(getEvent('events')), ...purchases.flatMap(getEvent('purchases'))],
  };
};
