import { useSignal } from '@preact/signals';
import type { Filter } from '../../campaign/campaign-json.ts';
import { describeAudience } from '../../campaign/describe-audience.ts';
import type { ReleasesResponse } from '../../server/routes/releases.ts';
import type { SegmentImpact, SegmentRow } from '../../server/routes/segments.ts';
import { ActionError, call } from '../call.ts';
import { Button, into } from '../components/controls.tsx';
import { Dialog, DialogButton, NoteField } from '../components/dialog.tsx';
import { TextField } from '../components/fields.tsx';
import { wholeMoment } from '../components/format.ts';
import { type Loaded, LoadView, Resource, useGet, useLoad } from '../components/loading.tsx';
import { Empty } from '../components/notices.tsx';
import { AudienceBuilder } from '../editor/audience.tsx';
import { formatReach, TYPING_MS, useReach } from '../editor/reach.tsx';
import { CampaignLink } from '../shell/router.tsx';
import { hasRole, loadSession, signedIn } from '../shell/session.ts';
import '../screens.css';

const newId = (): string => `s-${crypto.randomUUID().slice(0, 8)}`;

const Uses = ({ segment: { usedBy } }: { segment: SegmentRow }) =>
  usedBy.length === 0 ? (
    <p class="muted">Unused</p>
  ) : (
    <p class="muted">
      Used by{' '}
      {usedBy.map(({ id, name, isLive }, index) => (
        <>
          {index > 0 && ', '}
          <CampaignLink key={id} id={id} name={name} tab="#audience" />
          {isLive && ' (live)'}
        </>
      ))}
    </p>
  );

interface SegmentVersion {
  release: number;
  name: string;
  audience: Filter;
}

/** Previous versions of a segment. Restoring a version fills in the form, so that the reach is shown before saving. */
const SegmentHistory = ({ id, onRestore }: { id: string; onRestore(version: SegmentVersion): void }) => (
  <details class="more">
    <summary>History</summary>
    <Resource<ReleasesResponse> path={`/api/releases?segment=${encodeURIComponent(id)}`}>
      {({ releases }) => (
        <ol class="stack tight">
          {releases.map(({ release, author, at, note, segment }, index) => (
            <li key={release}>
              <p>
                Release {release} by <bdi>{author}</bdi>, {wholeMoment(at)}:{' '}
                {segment ? describeAudience(segment.audience) : 'Removed'}
              </p>
              {note && (
                <p dir="auto" class="muted">
                  {note}
                </p>
              )}
              {segment && index > 0 && (
                <Button
                  aria-label={`Restore release ${release}`}
                  onClick={() => onRestore({ release, ...segment })}
                >
                  Restore
                </Button>
              )}
            </li>
          ))}
        </ol>
      )}
    </Resource>
  </details>
);

type Impact = Loaded<{ campaigns: SegmentImpact[] }>;

/** Returns the impact of a change on the live campaigns that use the segment. */
const useImpact = (segment: SegmentRow | null, audience: Filter | null): Impact => {
  const id = segment?.usedBy.some(({ isLive }) => isLive) && audience !== null ? segment.id : null;
  return useLoad(
    (signal): Promise<{ campaigns: SegmentImpact[] }> =>
      id !== null
        ? call('POST', `/api/segments/${encodeURIComponent(id)}/impact`, {
            body: { audience },
            signal,
          })
        : Promise.resolve({ campaigns: [] }),
    JSON.stringify(audience),
    { pauseMs: TYPING_MS, keepsLast: true },
  ).loaded;
};

/** List of live campaigns that use a segment, with their reach before and after the change. */
const ImpactList = ({ impact }: { impact: Impact }) => (
  <ul>
    {impact.state === 'ready' &&
      impact.value.campaigns.map(({ id, name, reach, isSilenced }) => (
        <li key={id} class={isSilenced ? 'field-problem' : undefined}>
          <bdi>{name}</bdi>
          {reach && `: ${formatReach(reach.before)} → ${formatReach(reach.after)}`}
          {isSilenced && '. Almost no users will see it.'}
        </li>
      ))}
  </ul>
);

interface SegmentDialogProps {
  /** `null` for a new segment. */
  segment: SegmentRow | null;
  onClose(): void;
  onSaved(): Promise<void>;
}

/** Segment editor. Lists the affected live campaigns before saving. */
const SegmentDialog = ({ segment, onClose, onSaved }: SegmentDialogProps) => {
  const name = useSignal(segment?.name ?? '');
  const audience = useSignal<Filter | null>(segment?.audience ?? null);
  const note = useSignal('');
  const running = (segment?.usedBy ?? []).filter(({ isLive }) => isLive);
  const isChanged =
    name.value !== (segment?.name ?? '') ||
    JSON.stringify(audience.value) !== JSON.stringify(segment?.audience ?? null);
  const reach = useReach({
    campaign_id: 'segment',
    status: 'active',
    placements: [],
    audience: audience.value,
    variants: [{ variant_id: 'a', properties: {} }],
  });
  const isEmpty =
    audience.value !== null && reach.state === 'ready' && reach.value.total > 0 && reach.value.users === 0;
  const impact = useImpact(segment, audience.value);
  const isSilencing = impact.state === 'ready' && impact.value.campaigns.some(({ isSilenced }) => isSilenced);
  const save = async () => {
    if (name.value.trim() === '') throw new ActionError('Enter a name.');
    if (audience.value === null) throw new ActionError('Add a condition.');
    const path = `/api/segments/${encodeURIComponent(segment?.id ?? newId())}`;
    await call('PUT', path, {
      body: { name: name.value, audience: audience.value, note: note.value, based_on: segment?.newest ?? 0 },
    });
    return `${name.value} is saved.`;
  };
  return (
    <Dialog
      title={segment ? `Change “${segment.name}”` : 'New segment'}
      isWide
      onClose={onClose}
      isChanged={isChanged}
      onDone={onSaved}
      action={{
        name:
          running.length === 0 ? 'Save' : isEmpty || isSilencing ? 'Save anyway' : 'Save for all campaigns',
        act: save,
      }}
    >
      {running.length > 0 && (
        <section class="panel notice">
          <h3>{running.length === 1 ? '1 live campaign uses' : `${running.length} live campaigns use`} it</h3>
          <p>The change applies at once, without a new release.</p>
          <ImpactList impact={impact} />
        </section>
      )}
      <TextField
        id="segment-name"
        label="Name"
        dir="auto"
        maxLength={200}
        value={name.value}
        onType={into(name)}
      />
      <section class="stack" aria-label="Audience">
        <p>{describeAudience(audience.value)}</p>
        {segment && typeof segment.reach !== 'string' && (
          <p class="muted">Saved: {formatReach(segment.reach)}.</p>
        )}
        {audience.value !== null && reach.state === 'ready' && (
          <p role="status">
            {segment ? 'Now' : 'Users'}: {formatReach(reach.value)}.
          </p>
        )}
        {isEmpty && running.length > 0 && (
          <p class="field-problem" role="alert">
            Almost no users are in this segment. Live campaigns that use it:{' '}
            {running.map((each) => `“${each.name}”`).join(', ')}.
          </p>
        )}
        <AudienceBuilder
          audience={audience.value}
          checks={[]}
          hasSegments={false}
          onChange={into(audience)}
        />
      </section>
      <NoteField id="segment-note" label="Note for the history" note={note} />
      {segment && segment.newest > 0 && (
        <SegmentHistory
          id={segment.id}
          onRestore={(version) => {
            name.value = version.name;
            audience.value = version.audience;
            note.value = `Back to release ${version.release}`;
          }}
        />
      )}
    </Dialog>
  );
};

const RemoveDialog = ({ segment, onClose, onSaved }: SegmentDialogProps & { segment: SegmentRow }) => {
  const remove = async () => {
    const path = `/api/segments/${encodeURIComponent(segment.id)}/remove`;
    await call('POST', path, { body: { note: '', based_on: segment.newest } });
    return `${segment.name} removed.`;
  };
  return (
    <Dialog
      title={`Remove “${segment.name}”?`}
      onClose={onClose}
      action={{ name: 'Remove', act: remove }}
      onDone={onSaved}
    >
      <p>No campaign uses it.</p>
    </Dialog>
  );
};

/** Reasons that the list shows no size for a segment. */
const NOT_COUNTED = {
  needs_permission: 'Not counted: it selects users by ID or address. Requires the permission to view users.',
  not_counted: 'Not counted: the time limit is reached. Open a campaign that uses it.',
};

/** Segments: named audiences, shared by campaigns. */
export const SegmentsScreen = () => {
  const { loaded, again } = useGet<{ segments: SegmentRow[] }>('/api/segments');
  const saved = async () => {
    await loadSession();
    await again();
  };
  const isFile = signedIn().workspace.campaignsFrom === 'file';
  const mayWrite = hasRole('publish') && !isFile;
  return (
    <>
      <div class="row apart page-head">
        <h1>Segments</h1>
        {mayWrite && (
          <DialogButton look="primary" name="New segment">
            {(close) => <SegmentDialog segment={null} onClose={close} onSaved={saved} />}
          </DialogButton>
        )}
      </div>
      {isFile && <p class="muted">Segments are managed in the workspace file, under “segments”.</p>}
      <LoadView loaded={loaded} again={again}>
        {({ segments }) =>
          segments.length === 0 ? (
            <Empty title="No segments yet">
              <p class="muted">A segment is a named audience, shared by campaigns.</p>
            </Empty>
          ) : (
            <ul class="panel">
              {segments.map((segment) => (
                <li key={segment.id} class="segment">
                  <h2>
                    <bdi>{segment.name}</bdi>
                  </h2>
                  <p>{describeAudience(segment.audience)}</p>
                  <p class="muted">
                    {typeof segment.reach === 'string'
                      ? NOT_COUNTED[segment.reach]
                      : formatReach(segment.reach)}
                  </p>
                  <Uses segment={segment} />
                  {mayWrite && (
                    <p class="row notice-actions">
                      <DialogButton name="Change…" aria-label={`Change ${segment.name}`}>
                        {(close) => <SegmentDialog segment={segment} onClose={close} onSaved={saved} />}
                      </DialogButton>
                      {segment.usedBy.length === 0 && (
                        <DialogButton look="quiet" name="Remove…" aria-label={`Remove ${segment.name}`}>
                          {(close) => <RemoveDialog segment={segment} onClose={close} onSaved={saved} />}
                        </DialogButton>
                      )}
                    </p>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </LoadView>
    </>
  );
};
