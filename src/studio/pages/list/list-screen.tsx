import { signal } from '@preact/signals';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { FirstNumber } from '../../server/routes/results.ts';
import { call } from '../call.ts';
import { Segments } from '../parts/fields.tsx';
import { Boundary, Empty, Problem } from '../parts/problem.tsx';
import { useFocusAfterReload, useLoad } from '../parts/server.tsx';
import { Link } from '../shell/address.tsx';
import { may } from '../shell/session.ts';
import { FILTERS, findCampaigns, type Shown, type Sort, stateOf } from './campaign-list.tsx';
import { Row, timelineOf, UnreadableRow } from './row.tsx';
import './list.css';

const NOBODY: FirstNumber = { people: 0, clicked: 0 };

const SORTS: readonly { value: Sort; name: string }[] = [
  { value: 'state', name: 'State' },
  { value: 'name', name: 'Name' },
  { value: 'start', name: 'Latest start' },
  { value: 'people', name: 'Most seen' },
];
const PAGE = 25;

/** What was searched and how far: it stays while one looks at a campaign and comes back. */
const search = signal('');
const shown = signal<Shown>('all');
const sort = signal<Sort>('state');
const most = signal(PAGE);
const find = (change: () => void) => {
  change();
  most.value = PAGE;
};

/** All campaigns of the workspace: to find one, to see which runs when, to begin one. */
export const ListScreen = () => {
  const { loaded, again } = useLoad(
    () => call<{ campaigns: CampaignRow[] }>('GET', '/api/campaigns'),
    'campaigns',
  );
  useFocusAfterReload(loaded);
  // They may take a moment, and the list is of use without them.
  const numbers = useLoad(
    () => call<{ numbers: Record<string, FirstNumber> }>('GET', '/api/numbers'),
    'numbers',
  ).loaded;
  const nowMs = Date.now();
  const rows = loaded.state === 'ready' ? loaded.value.campaigns : [];
  const numberOf = (id: string) => (numbers.state === 'ready' ? (numbers.value.numbers[id] ?? NOBODY) : null);
  const all = findCampaigns(rows, {
    shown: shown.value,
    words: search.value,
    sort: sort.value,
    people: (id) => numberOf(id)?.people ?? 0,
    nowMs,
  });
  const found = all.slice(0, most.value);
  const timeline = timelineOf(nowMs);

  return (
    <div aria-busy={loaded.state === 'loading'}>
      <div class="page-head">
        <h1>Campaigns</h1>
        {may('edit') && (
          <Link to="/new" class="button primary">
            New campaign
          </Link>
        )}
      </div>
      {loaded.state === 'failed' ? (
        <Problem title={loaded.words}>
          <button type="button" class="button" onClick={() => void again()}>
            Try again
          </button>
        </Problem>
      ) : (
        <>
          <div class="list-tools">
            <input
              type="search"
              aria-label="Search campaigns"
              placeholder="Search by name or placement"
              value={search.value}
              onInput={(event) => {
                const { value } = event.currentTarget;
                find(() => {
                  search.value = value;
                });
              }}
            />
            <Segments
              label="Show"
              isLabelHidden
              options={FILTERS}
              chosen={shown.value}
              onChoose={(value) =>
                find(() => {
                  shown.value = value;
                })
              }
            />
            <label class="list-sort">
              <span>Sort by</span>
              <select
                value={sort.value}
                onChange={(event) => {
                  const value = event.currentTarget.value as Sort;
                  find(() => {
                    sort.value = value;
                  });
                }}
              >
                {SORTS.map(({ value, name }) => (
                  <option key={value} value={value}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          </div>
          {found.length > 0 && (
            <ul class="list">
              <li class="list-row list-heads" aria-hidden="true">
                <span>Name</span>
                <span class="list-state">State</span>
                <span class="list-time">
                  {timeline.ticks.map(({ at, name }) => (
                    <span key={name} style={{ insetInlineStart: `${at}%` }}>
                      {name}
                    </span>
                  ))}
                </span>
                <span class="list-number">Seen by</span>
                <span />
              </li>
              {found.map((row) => (
                <Boundary
                  key={`${row.id} ${row.draft?.revision}`}
                  instead={(reason) => <UnreadableRow row={row} reason={reason} />}
                >
                  <Row
                    row={row}
                    state={stateOf(row, nowMs)}
                    timeline={timeline}
                    number={numberOf(row.id)}
                    onChange={again}
                  />
                </Boundary>
              ))}
            </ul>
          )}
          {all.length > found.length && (
            <div class="list-more">
              <button
                type="button"
                class="button"
                onClick={() => {
                  most.value += PAGE;
                }}
              >
                Show {Math.min(PAGE, all.length - found.length)} more
              </button>
              <span class="muted" role="status">
                {found.length} of {all.length}
              </span>
            </div>
          )}
          {loaded.state === 'ready' && found.length === 0 && rows.length > 0 && (
            <Empty title="No campaign is like that">
              <button
                type="button"
                class="button"
                onClick={() =>
                  find(() => {
                    search.value = '';
                    shown.value = 'all';
                  })
                }
              >
                Show all
              </button>
            </Empty>
          )}
          {loaded.state === 'ready' && rows.length === 0 && (
            <Empty title="No campaigns yet">
              <p class="muted">A campaign says what to show, to whom, where and when.</p>
              {may('edit') && (
                <Link to="/new" class="button primary">
                  Write the first one
                </Link>
              )}
            </Empty>
          )}
        </>
      )}
    </div>
  );
};
