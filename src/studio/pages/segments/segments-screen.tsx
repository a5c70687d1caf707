import { useSignal } from '@preact/signals';
import { audienceWords } from '../../campaign/audience-words.ts';
import type { Filter } from '../../campaign/campaign-text.ts';
import type { SegmentRow } from '../../server/routes/segments.ts';
import { call, Refused } from '../call.ts';
import { AudienceBuilder } from '../editor/audience.tsx';
import { reachWords } from '../editor/reach.tsx';
import { into } from '../parts/controls.tsx';
import { Dialog, DialogButton, NoteField } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { announce, Empty } from '../parts/problem.tsx';
import { LoadView, useLoad } from '../parts/server.tsx';
import { Link } from '../shell/address.tsx';
import { loadSession, may, signedIn } from '../shell/session.ts';
import '../screens.css';

const newId = (): string => `s-${crypto.randomUUID().slice(0, 8)}`;

const Uses = ({ segment: { usedBy } }: { segment: SegmentRow }) =>
  usedBy.length === 0 ? (
    <p class="muted">No campaign asks for it.</p>
  ) : (
    <p class="muted">
      Asked for by{' '}
      {usedBy.map(({ id, name, isLive }, index) => (
        <>
          {index > 0 && ', '}
          <Link key={id} to={`/campaigns/${encodeURIComponent(id)}#audience`}>
            <bdi>{name}</bdi>
          </Link>
          {isLive && ' (runs)'}
        </>
      ))}
    </p>
  );

interface SegmentDialogProps {
  /** `null`: a new one. */
  segment: SegmentRow | null;
  onClose(): void;
  onSaved(): Promise<void>;
}

/** Writes a segment. Before it reaches campaigns that run, they are named. */
const SegmentDialog = ({ segment, onClose, onSaved }: SegmentDialogProps) => {
  const name = useSignal(segment?.name ?? '');
  const audience = useSignal<Filter | null>(segment?.audience ?? null);
  const note = useSignal('');
  const running = (segment?.usedBy ?? []).filter(({ isLive }) => isLive);
  const save = async () => {
    if (name.value.trim() === '') throw new Refused('Give it a name: campaigns find it by that.');
    if (audience.value === null) throw new Refused('Say who is in: without a condition it is everyone.');
    const path = `/api/segments/${encodeURIComponent(segment?.id ?? newId())}`;
    await call('PUT', path, {
      body: { name: name.value, audience: audience.value, note: note.value, based_on: segment?.newest ?? 0 },
    });
    announce(`${name.value} is saved.`);
    onClose();
    await loadSession();
    await onSaved();
  };
  return (
    <Dialog
      title={segment ? `Change “${segment.name}”` : 'New segment'}
      isWide
      onClose={onClose}
      closeName="Not now"
      action={{ name: running.length > 0 ? 'Change it for them' : 'Save', act: save }}
    >
      {running.length > 0 && (
        <section class="panel notice">
          <h3>
            {running.length === 1 ? 'A campaign that runs asks' : `${running.length} campaigns that run ask`}{' '}
            for it
          </h3>
          <p>
            With this they reach other people, at once and without a release of their own:{' '}
            {running.map((each) => `“${each.name}”`).join(', ')}.
          </p>
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
      <section class="stack" aria-label="Who is in">
        <p>{audienceWords(audience.value)}</p>
        <AudienceBuilder
          audience={audience.value}
          checks={[]}
          hasSegments={false}
          onChange={into(audience)}
        />
      </section>
      <NoteField id="segment-note" label="Note for the history" note={note} />
    </Dialog>
  );
};

const RemoveDialog = ({ segment, onClose, onSaved }: SegmentDialogProps & { segment: SegmentRow }) => {
  const remove = async () => {
    const path = `/api/segments/${encodeURIComponent(segment.id)}/remove`;
    await call('POST', path, { body: { note: '', based_on: segment.newest } });
    announce(`${segment.name} is gone.`);
    onClose();
    await loadSession();
    await onSaved();
  };
  return (
    <Dialog
      title={`Remove “${segment.name}”?`}
      onClose={onClose}
      closeName="Keep it"
      action={{ name: 'Remove it', act: remove }}
    >
      <p>No campaign asks for it. Nothing else changes.</p>
    </Dialog>
  );
};

/** Why a segment has no number in the list. */
const NOT_COUNTED = {
  'needs people': 'It asks for people by an ID or an address: counting them needs the right “people”.',
  'left out':
    'Not counted: the segments above have used up the time of this list. A campaign that asks for it shows how many it reaches.',
};

/** Audiences with a name, which campaigns share. */
export const SegmentsScreen = () => {
  const { loaded, again } = useLoad(
    () => call<{ segments: SegmentRow[] }>('GET', '/api/segments'),
    'segments',
  );
  const isFile = signedIn().workspace.campaignsFrom === 'file';
  const mayWrite = may('publish') && !isFile;
  return (
    <>
      <div class="row apart page-head">
        <h1>Segments</h1>
        {mayWrite && (
          <DialogButton look="primary" name="New segment">
            {(close) => <SegmentDialog segment={null} onClose={close} onSaved={again} />}
          </DialogButton>
        )}
      </div>
      {isFile && <p class="muted">The segments of this workspace are in its file, under “segments”.</p>}
      <LoadView loaded={loaded} again={again}>
        {({ segments }) =>
          segments.length === 0 ? (
            <Empty title="No segments yet">
              <p class="muted">A segment is an audience with a name that several campaigns ask for.</p>
            </Empty>
          ) : (
            <ul class="panel">
              {segments.map((segment) => (
                <li key={segment.id} class="segment">
                  <h2>
                    <bdi>{segment.name}</bdi>
                  </h2>
                  <p>{audienceWords(segment.audience)}</p>
                  <p class="muted">
                    {typeof segment.reach === 'string'
                      ? NOT_COUNTED[segment.reach]
                      : reachWords(segment.reach)}
                  </p>
                  <Uses segment={segment} />
                  {mayWrite && (
                    <p class="row notice-actions">
                      <DialogButton name="Change …" aria-label={`Change ${segment.name}`}>
                        {(close) => <SegmentDialog segment={segment} onClose={close} onSaved={again} />}
                      </DialogButton>
                      {segment.usedBy.length === 0 && (
                        <DialogButton look="quiet" name="Remove …" aria-label={`Remove ${segment.name}`}>
                          {(close) => <RemoveDialog segment={segment} onClose={close} onSaved={again} />}
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
