import { useSignal } from '@preact/signals';
import type { AuditAnswer } from '../../server/routes/access.ts';
import { call, wordsOf } from '../call.ts';
import { announce } from '../parts/announce.tsx';
import { wholeMoment } from '../parts/dates.ts';
import { LoadView } from '../parts/load-view.tsx';
import { TableBox } from '../parts/table-box.tsx';
import { useLoad } from '../parts/use-load.ts';

const Entries = ({ first }: { first: AuditAnswer }) => {
  const more = useSignal<AuditAnswer[]>([]);
  const pages = [first, ...more.value];
  const { before } = pages.at(-1)!;
  return (
    <>
      <TableBox label="Audit" isStacked>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Of</th>
            <th scope="col">More</th>
          </tr>
        </thead>
        <tbody>
          {pages
            .flatMap(({ entries }) => entries)
            .map(({ at, operator, action, subject, subjectName, details }) => (
              <tr key={`${at} ${operator} ${action} ${subject}`}>
                <td>{wholeMoment(at)}</td>
                <th scope="row">
                  <bdi>{operator}</bdi>
                </th>
                <td>{action}</td>
                <td title={subject}>
                  <bdi>{subjectName}</bdi>
                </td>
                <td>{details}</td>
              </tr>
            ))}
        </tbody>
      </TableBox>
      {before !== null && (
        <button
          type="button"
          class="button"
          onClick={async () => {
            try {
              more.value = [...more.value, await call<AuditAnswer>('GET', `/api/audit?before=${before}`)];
            } catch (error) {
              announce(wordsOf(error));
            }
          }}
        >
          Show more
        </button>
      )}
    </>
  );
};

/** Who did what, newest first. */
export const Audit = () => {
  const { loaded, again } = useLoad(() => call<AuditAnswer>('GET', '/api/audit'), 'audit');
  return (
    <LoadView loaded={loaded} again={again}>
      {(first) => <Entries first={first} />}
    </LoadView>
  );
};
