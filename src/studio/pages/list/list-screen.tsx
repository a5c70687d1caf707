import { type Signal, signal } from '@preact/signals';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import type { CampaignStats } from '../../server/routes/results.ts';
import { Button, type Option, Segments, Select } from '../components/controls.tsx';
import { Late, useFocusAfterReload, useGet } from '../components/loading.tsx';
import { Boundary, Empty, Problem } from '../components/notices.tsx';
import { Link } from '../shell/router.tsx';
import { hasRole, signedIn } from '../shell/session.ts';
import { FILTERS, findCampaigns, getListState, type Shown, type Sort } from './campaign-list.tsx';
import { Row, UnreadableRow } from './row.tsx';
import './list.css';

const NOBODY: CampaignStats = { users: 0, clicked: 0 };

const SORTS: readonly Option<Sort>[] = [
  { value: 'state', name: 'State' },
  { value: 'name', name: 'Name' },
  { value: 'start', name: 'Latest start' },
  { value: 'exposed', name: 'Most seen' },
];
const PAGE = 25;

const asked = new URLSearchParams(location.search);
const readChoice = <Value extends string>(
  options: readonly Option<Value>[],
  name: string,
  otherwise: Value,
) => options.find(({ value }) => value === asked.get(name))?.value ?? otherwise;

/** Search state, kept in the URL to survive a reload or a visit to a campaign. */
const search = signal(asked.get('q') ?? '');
const shown = signal(readChoice<Shown>(FILTERS, 'show', 'all'));
const sort = signal(readChoice(SORTS, 'sort', 'state'));
const most = signal(PAGE);
/** Returns an input handler that sets a filter and resets the list. */
const find =
  <Value,>(choice: Signal<Value>) =>
  (value: Value): void => {
    choice.value = value;
    most.value = PAGE;
    const query = new URLSearchParams({ q: search.value, show: shown.value, sort: sort.value });
    history.replaceState(null, '', `?${query}`);
  };

const loadArchiveAll = async () => (await import('./archive-all.tsx')).ArchiveAll;

/** Campaign list with search, schedule and a button for a new campaign. */
export const ListScreen = () => {
  const { loaded, again } = useGet<{ campaigns: CampaignVersions[] }>('/api/campaigns');
  useFocusAfterReload(loaded);
  // Loads the statistics separately, because they may be slow and the list works without them.
  const numbers = useGet<{ numbers: Record<string, CampaignStats> }>('/api/campaign-stats').loaded;
  const nowMs = Date.now();
  const rows = loaded.state === 'ready' ? loaded.value.campaigns : [];
  const findStats = (id: string) =>
    numbers.state === 'ready' ? (numbers.value.numbers[id] ?? NOBODY) : null;
  const findShown = (filter: Shown) =>
    findCampaigns(rows, {
      shown: filter,
      query: search.value,
      sort: sort.value,
      countUsers: (id) => findStats(id)?.users ?? 0,
      nowMs,
    });
  const all = findShown(shown.value);
  const archivable =
    hasRole('publish') && signedIn().workspace.campaignsFrom === 'studio'
      ? all.filter(({ draft }) => !draft)
      : [];
  const newCampaign = hasRole('edit') && (
    <Link to="/new" class="button primary">
      New campaign
    </Link>
  );
  const found = all.slice(0, most.value);

  return (
    <div aria-busy={loaded.state === 'loading'}>
      <div class="row apart page-head">
        <h1>Campaigns</h1>
        {newCampaign}
      </div>
      {loaded.state === 'failed' ? (
        <Problem title={loaded.message}>
          <Button onClick={() => void again()}>Try again</Button>
        </Problem>
      ) : (
        <>
          <div class="row list-tools">
            <input
              type="search"
              aria-label="Search campaigns"
              placeholder="Search by name or placement"
              value={search.value}
              onInput={(event) => find(search)(event.currentTarget.value)}
            />
            <Segments
              label="Show"
              isLabelHidden
              options={FILTERS.map(({ value, name }) => ({
                value,
                name: `${name} ${findShown(value).length}`,
              }))}
              chosen={shown.value}
              onChoose={find(shown)}
            />
            {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is the select */}
            <label class="list-sort">
              <span>Sort by</span>
              <Select value={sort.value} options={SORTS} onChoose={find(sort)} />
            </label>
          </div>
          {found.length > 0 && (
            <ul class="list">
              <li class="list-row list-heads" aria-hidden="true">
                <span />
                <span>Name</span>
                <span class="list-state">State</span>
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
                    state={getListState(row, nowMs)}
                    number={findStats(row.id)}
                    onChange={again}
                  />
                </Boundary>
              ))}
            </ul>
          )}
          {shown.value === 'ended' && archivable.length > 1 && (
            <div class="row list-more">
              <Late load={loadArchiveAll}>
                {(ArchiveAll) => <ArchiveAll rows={archivable} onDone={again} />}
              </Late>
            </div>
          )}
          {all.length > found.length && (
            <div class="row list-more">
              <Button
                onClick={() => {
                  most.value += PAGE;
                }}
              >
                Show {Math.min(PAGE, all.length - found.length)} more
              </Button>
              <span class="muted" role="status">
                {found.length} of {all.length}
              </span>
            </div>
          )}
          {loaded.state === 'ready' && found.length === 0 && rows.length > 0 && (
            <Empty title="No matching campaigns">
              <Button
                onClick={() => {
                  find(search)('');
                  find(shown)('all');
                }}
              >
                Show all
              </Button>
            </Empty>
          )}
          {loaded.state === 'ready' && rows.length === 0 && (
            <Empty title="No campaigns yet">{newCampaign}</Empty>
          )}
        </>
      )}
    </div>
  );
};
