import { useSignal } from '@preact/signals';
import type { AuditAnswer } from '../../server/routes/access.ts';
import { call, wordsOf } from '../call.ts';
import { announce } from '../parts/announce.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { wholeMoment } from '../parts/dates.ts';
import { LoadView } from '../parts/load-view.tsx';
import { useLoad } from '../parts/use-load.ts';

const Entries = ({ first }: { first: AuditAnswer }) => {
  const more = useSignal<AuditAnswer[]>([]);
  const pages = [first, ...more.value];
  const { before } = pages.at(-1)!;
  return (
    <>
      <DataTable
        label="Audit"
        rows={pages.flatMap(({ entries }) => entries)}
        keyOf={({ at, operator, action, subject }) => `${at} ${operator} ${action} ${subject}`}
        columns={[
          { name: 'When', cell: ({ at }) => wholeMoment(at) },
          { name: 'Who', kind: 'head', cell: ({ operator }) => operator },
          { name: 'What', cell: ({ action }) => action },
          {
            name: 'Of',
            cell: ({ subject, subjectName }) => <bdi title={subject}>{subjectName}</bdi>,
          },
          { name: 'More', cell: ({ details }) => details },
        ]}
      />
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
