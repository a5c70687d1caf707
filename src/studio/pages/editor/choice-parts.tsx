import { signedIn } from '../shell/session.ts';
import { ConditionPart, type PartsProps } from './condition-part.tsx';

/** A line about a subscription group. */
export const GroupParts = ({ id, condition, onChange }: PartsProps<'group'>) => (
  <>
    <ConditionPart label="Subscription group" isWide>
      <select
        id={id}
        value={condition.id}
        onChange={(event) => onChange({ ...condition, id: event.currentTarget.value })}
      >
        <option value="">Choose …</option>
        {signedIn().workspace.subscriptionGroups.map((group) => (
          <option key={group.id} value={group.id}>
            {group.name}
          </option>
        ))}
      </select>
    </ConditionPart>
    <ConditionPart label="State">
      <select
        value={condition.state}
        onChange={(event) => onChange({ ...condition, state: event.currentTarget.value as 'subscribed' })}
      >
        <option>subscribed</option>
        <option>unsubscribed</option>
      </select>
    </ConditionPart>
  </>
);

/** A line about the app that asks. */
export const AppParts = ({ id, condition, onChange }: PartsProps<'app'>) => (
  <ConditionPart label="App" isWide>
    <select
      id={id}
      value={condition.ids[0] ?? ''}
      onChange={(event) =>
        onChange({ ...condition, ids: event.currentTarget.value ? [event.currentTarget.value] : [] })
      }
    >
      <option value="">Choose …</option>
      {signedIn().workspace.apps.map((app) => (
        <option key={app.id} value={app.id}>
          {app.name}
        </option>
      ))}
    </select>
  </ConditionPart>
);
