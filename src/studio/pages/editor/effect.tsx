import type { LiveEffect } from '../../server/live-effect.ts';

const names = (campaigns: readonly string[]) => campaigns.map((name) => `“${name}”`).join(', ');

/** Which campaigns it comes before and after, placement by placement. */
export const Effect = ({ effect }: { effect: LiveEffect }) => (
  <ul class="effect">
    {effect.placements.map(({ id, name, before, after }) => (
      <li key={id}>
        <b>{name}</b>:{' '}
        {before.length === 0 && after.length === 0
          ? 'no other campaign runs there now.'
          : [
              before.length > 0 ? `wins over ${names(before)} for everybody in its audience` : '',
              after.length > 0 ? `waits behind ${names(after)} for people in their audiences` : '',
            ]
              .filter((words) => words !== '')
              .join('; ')
              .concat('.')}
      </li>
    ))}
  </ul>
);
