import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { getCampaignName } from '../../campaign/campaign-json.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import type { PresenceResponse } from '../../server/routes/review.ts';
import { ApiError, call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { Late, LoadView, useAction, useLoad } from '../components/loading.tsx';
import { announce, Boundary, Problem } from '../components/notices.tsx';
import { ScheduledNotice } from '../history/scheduled.tsx';
import { getListState, StateMark } from '../list/campaign-list.tsx';
import { StopDialog } from '../list/stop-dialog.tsx';
import { campaignPath, Link, navigate } from '../shell/router.tsx';
import { hasRole, signedIn } from '../shell/session.ts';
import { ConflictBox, DraftBar, PublishBlocker } from './draft-bar.tsx';
import { EditTab, focusUnread } from './edit-tab.tsx';
import { createEditor, type Editor } from './editor-state.ts';
import { CopyDialog, PublishDialog } from './publish-dialog.tsx';
import '../shell/shell.css';

type Tab = 'edit' | 'results' | 'history';
/** Polling interval for changes of the same draft by other operators. */
const POLL_MS = 10_000;

const TABS: readonly { tab: Tab; name: string }[] = [
  { tab: 'edit', name: 'Campaign' },
  { tab: 'results', name: 'Results' },
  { tab: 'history', name: 'History' },
];

const LATE_TABS = {
  results: async () => (await import('../results/results-tab.tsx')).ResultsTab,
  history: async () => (await import('../history/history-tab.tsx')).HistoryTab,
};
const loadPromote = async () => (await import('./promote-dialog.tsx')).PromoteDialog;

const readRow = async (id: string): Promise<CampaignVersions | null> => {
  try {
    return await call<CampaignVersions>('GET', `/api${campaignPath(id)}`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
};

/** Campaign with its editor, results and history. */
export const CampaignScreen = ({ id, tab }: { id: string; tab: Tab }) => {
  const loads = useRef(0);
  const { loaded, again } = useLoad(async () => {
    const row = await readRow(id);
    loads.current += 1;
    return row;
  }, id);
  return (
    <LoadView loaded={loaded} again={again} isPage>
      {(row) => {
        if (row === null) {
          return (
            <Problem title="Campaign not found" isPage>
              <Link to="/">Go to the campaigns</Link>
            </Problem>
          );
        }
        // Remounts the editor after a release or a discarded draft, so that its unsaved state is not reused.
        return (
          <Boundary
            key={loads.current}
            instead={(reason) => <Unreadable row={row} reason={reason} onDiscarded={again} />}
          >
            <Campaign row={row} tab={tab} onChange={again} />
          </Boundary>
        );
      }}
    </LoadView>
  );
};

/** Fallback for a campaign that cannot be rendered, with an option to discard its draft. */
const Unreadable = (props: { row: CampaignVersions; reason: string; onDiscarded(): Promise<void> }) => {
  const { row, reason, onDiscarded } = props;
  const discard = useAction(async () => {
    await call('DELETE', `/api/drafts/${encodeURIComponent(row.id)}`, { ifMatch: row.draft!.revision });
    announce('Draft discarded.');
    if (row.published || row.scheduled.length > 0) await onDiscarded();
    else navigate('/');
  });
  return (
    <Problem title="Invalid campaign" isPage>
      <p class="muted">{reason}</p>
      {row.draft && hasRole('edit') && <Button onClick={() => void discard.run()}>Discard its draft</Button>}
      <p class="field-problem">{discard.problem.value}</p>
      <Link to="/">Go to the campaigns</Link>
    </Problem>
  );
};

const Campaign = ({ row, tab, onChange }: { row: CampaignVersions; tab: Tab; onChange(): Promise<void> }) => {
  const made = useRef<Editor | null>(null);
  made.current ??= createEditor(row, !hasRole('edit'));
  const editor = made.current;
  const path = campaignPath(row.id);
  const isPublishing = useSignal(false);
  const closeDialog = () => {
    isPublishing.value = false;
  };
  const isFile = signedIn().workspace.campaignsFrom === 'file';
  const state = getListState(row, Date.now());
  useEffect(() => {
    const leave = () => void editor.save(true);
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('pagehide', leave);
      leave();
    };
  }, [editor]);

  const present = useSignal<readonly string[]>([]);
  useEffect(() => {
    const report = async () => {
      present.value = (await call<PresenceResponse>('PUT', `/api${path}/presence`)).operators;
    };
    const poll = () => {
      if (document.visibilityState !== 'visible') return;
      // If this fails, the next poll or save reports it.
      editor.poll().catch(() => undefined);
      if (!editor.isReadOnly) report().catch(() => undefined);
    };
    poll();
    const timer = setInterval(poll, POLL_MS);
    document.addEventListener('visibilitychange', poll);
    addEventListener('online', poll);
    return () => {
      clearInterval(timer);
      removeEventListener('online', poll);
      document.removeEventListener('visibilitychange', poll);
    };
  }, [editor, path, present]);

  const campaign = editor.campaign.value;
  return (
    <>
      <div class="row low">
        <p class="campaign-up">
          <Link to="/">Campaigns</Link>
        </p>
        <div class="row campaign-title">
          <h1>
            <bdi>{getCampaignName(campaign)}</bdi>
          </h1>
          <StateMark state={state} />
          {signedIn().workspace.environments.length > 0 && hasRole('edit') && (
            <DialogButton look="quiet" name="Copy to environment…" before={editor.flush}>
              {(close) => (
                <Late load={loadPromote}>{(Promote) => <Promote id={row.id} onClose={close} />}</Late>
              )}
            </DialogButton>
          )}
          {state === 'live' && !isFile && hasRole('publish') && (
            <DialogButton look="quiet danger" name="Stop…">
              {(close) => <StopDialog row={row} verb="stop" onClose={close} onDone={onChange} />}
            </DialogButton>
          )}
        </div>
      </div>
      <div class="row apart campaign-bar">
        <nav class="row tabs" aria-label="Campaign">
          {TABS.map((each) => (
            <Link
              key={each.tab}
              to={each.tab === 'edit' ? path : `${path}/${each.tab}`}
              current={each.tab === tab}
            >
              {each.name}
            </Link>
          ))}
        </nav>
        {tab === 'edit' && (
          <DraftBar
            editor={editor}
            onPublish={async () => {
              // Blocks publishing, because the last valid value would be published instead of the input.
              if (focusUnread()) return;
              await editor.flush();
              isPublishing.value = true;
            }}
            onDiscarded={onChange}
          />
        )}
        <ConflictBox editor={editor} onDropped={onChange} />
      </div>
      {present.value.length > 0 && (
        <p class="campaign-why" role="status">
          Also here: {present.value.join(', ')}
        </p>
      )}
      {tab === 'edit' && <PublishBlocker editor={editor} />}
      <ScheduledNotice
        row={row}
        onEdit={
          tab === 'edit' && !editor.isReadOnly && row.published
            ? (scheduled) => editor.change(() => scheduled.campaign)
            : null
        }
        onDone={onChange}
      />
      {tab === 'edit' && <EditTab editor={editor} />}
      {tab !== 'edit' && (
        <Late key={tab} load={LATE_TABS[tab]}>
          {(Tab) => <Tab row={row} onChange={onChange} />}
        </Late>
      )}
      {isPublishing.value &&
        (isFile ? (
          <CopyDialog editor={editor} onClose={closeDialog} />
        ) : (
          <PublishDialog editor={editor} onClose={closeDialog} onPublished={onChange} />
        ))}
    </>
  );
};
