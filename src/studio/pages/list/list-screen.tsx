import { useSignal } from '@preact/signals';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { FirstNumber } from '../../server/routes/results.ts';
import { call } from '../call.ts';
import { Segments } from '../parts/fields.tsx';
import { Boundary, Empty, Problem } from '../parts/problem.tsx';
import { useFocusAfterReload, useLoad } from '../parts/server.tsx';
import { may } from '../shell/session.ts';
import { createCampaign, FILTERS, findCampaigns, type Shown, stateOf } from './campaign-list.tsx';
import { Row, timelineOf, UnreadableRow } from './row.tsx';
import './list.css';

const NOBODY: FirstNumber = { people: 0, clicked: 0 };

/** All campaigns of the workspace: to find one, to see which runs when, to begin one. */
export const ListScreen = () => {
  const search = useSignal('');
  const shown = useSignal<Shown>('all');
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
  const found = findCampaigns(rows, { shown: shown.value, words: search.value, nowMs });
  const timeline = timelineOf(nowMs);

  return (
    <div aria-busy={loaded.state === 'loading'}>
      <div class="page-head">
        <h1>Campaigns</h1>
        {may('edit') && (
          <button type="button" class="button primary" onClick={() => createCampaign()}>
            New campaign
          </button>
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
                search.value = event.currentTarget.value;
              }}
            />
            <Segments
              label="Show"
              isLabelHidden
              options={FILTERS}
              chosen={shown.value}
              onChoose={(value) => {
                shown.value = value;
              }}
            />
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
                    number={numbers.state === 'ready' ? (numbers.value.numbers[row.id] ?? NOBODY) : null}
                    onChange={again}
                  />
                </Boundary>
              ))}
            </ul>
          )}
          {loaded.state === 'ready' && found.length === 0 && rows.length > 0 && (
            <Empty title="No campaign is like that">
              <button
                type="button"
                class="button"
                onClick={() => {
                  search.value = '';
                  shown.value = 'all';
                }}
              >
                Show all
              </button>
            </Empty>
          )}
          {loaded.state === 'ready' && rows.length === 0 && (
            <Empty title="No campaigns yet">
              <p class="muted">A campaign says what to show, to whom, where and when.</p>
              {may('edit') && (
                <button type="button" class="button primary" onClick={() => createCampaign()}>
                  Write the first one
                </button>
              )}
            </Empty>
          )}
        </>
      )}
    </div>
  );
};
