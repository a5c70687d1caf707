import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { DAY_MS } from '../../../protocol/index.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import type { WebhookResponse, WebhooksResponse } from '../../server/routes/webhooks.ts';
import { call } from '../call.ts';
import { Button, into } from '../components/controls.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { MomentField } from '../components/fields.tsx';
import { ago, moment, wholeMoment } from '../components/format.ts';
import { LoadView, useGet } from '../components/loading.tsx';
import { announceResult } from '../components/notices.tsx';
import { usePolling } from '../components/polling.ts';
import { hasRole } from '../shell/session.ts';

type Webhook = WebhooksResponse['webhooks'][number];
type Attempt = WebhookResponse['attempts'][number];

const STATES: Readonly<Record<Webhook['status'], [name: string, state: string]>> = {
  active: ['Active', 'live'],
  failing: ['Failing', 'draft'],
  disabled: ['Disabled', 'failed'],
  paused: ['Paused', 'stopped'],
  waiting: ['Not started', 'stopped'],
};

const post = (id: string, action: string, body?: object) =>
  call('POST', `/api/webhooks/${encodeURIComponent(id)}/${action}`, body && { body });

const formatOutcome = ({ error, status }: Attempt) => (error === null ? `Delivered (${status})` : error);

interface AttemptsProps {
  id: string;
  /** Whether the operator can send messages and the webhook is not paused. */
  canSend: boolean;
}

/** Last attempts of a webhook. Polls while open. */
const Attempts = ({ id, canSend }: AttemptsProps) => {
  const { loaded, again } = useGet<WebhookResponse>(`/api/webhooks/${encodeURIComponent(id)}`);
  usePolling(again, true);
  const resend = (messageId: string) =>
    announceResult(async () => {
      await post(id, 'resend', { messageId });
      await again();
      return 'The message is queued.';
    });
  return (
    <LoadView loaded={loaded} again={again}>
      {({ attempts, isPending }) =>
        attempts.length === 0 ? (
          <p class="muted">{isPending ? 'A message is queued.' : 'No attempts yet.'}</p>
        ) : (
          <DataTable
            label="Attempts"
            rows={attempts}
            getRowKey={(attempt) => attempt.id}
            columns={[
              { name: 'Sent', kind: 'head', cell: ({ at }) => wholeMoment(at) },
              { name: 'Outcome', cell: formatOutcome },
              {
                name: 'Events',
                kind: 'number',
                cell: ({ events, isTest }) => (isTest ? 'Test' : formatNumber(events)),
              },
              { name: 'Took', kind: 'number', cell: ({ tookMs }) => `${formatNumber(tookMs)} ms` },
              { name: 'Message', cell: ({ messageId }) => <code class="wrap-anywhere">{messageId}</code> },
              ...(canSend
                ? [
                    {
                      name: 'Action',
                      cell: ({ messageId, at }: Attempt) => (
                        <Button
                          look="quiet"
                          disabled={isPending}
                          aria-label={`Resend the message of ${wholeMoment(at)}`}
                          onClick={() => void resend(messageId)}
                        >
                          Resend
                        </Button>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )
      }
    </LoadView>
  );
};

interface ReplayDialogProps {
  webhook: Webhook;
  onClose(): void;
  onDone(): Promise<void>;
}

const ReplayDialog = ({ webhook: { id, name }, onClose, onDone }: ReplayDialogProps) => {
  const field = useId();
  const since = useSignal(new Date(Date.now() - DAY_MS).toISOString());
  return (
    <Dialog
      title={`Replay ${name}`}
      onClose={onClose}
      onDone={onDone}
      action={{
        name: 'Replay',
        async act() {
          await post(id, 'replay', { since: since.value });
          return `${name} replays.`;
        },
      }}
    >
      <p>The receiver gets all events since this time again, with the same event IDs.</p>
      <MomentField
        id={field}
        label="Since"
        value={since.value}
        onChange={(value) => into(since)(value ?? since.value)}
      />
    </Dialog>
  );
};

const describeDelivery = ({ status, failures, failingSince, nextAttempt, disabledReason }: Webhook) => {
  if (status === 'disabled') return `${disabledReason}. Events are kept, and nothing is sent.`;
  if (status !== 'failing' || failingSince === null) return null;
  const next = nextAttempt === null ? '' : ` Next attempt: ${moment(nextAttempt)}.`;
  return `${formatNumber(failures)} failed attempts, first ${ago(failingSince)}.${next}`;
};

interface ItemProps {
  webhook: Webhook;
  isOpen: boolean;
  onToggle(): void;
  onChange(): Promise<void>;
}

const Item = ({ webhook, isOpen, onToggle, onChange }: ItemProps) => {
  const { id, name, host, status, eventTypes } = webhook;
  const canSend = hasRole('publish') && status !== 'paused' && status !== 'waiting';
  const note = describeDelivery(webhook);
  const act = (action: string, done: string) =>
    announceResult(async () => {
      await post(id, action);
      if (!isOpen) onToggle();
      await onChange();
      return done;
    });
  const [stateName, state] = STATES[status];
  const resumeName = status === 'disabled' ? 'Resume' : 'Retry now';
  return (
    <li class="panel">
      <div class="row">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <span class="muted">
          {host}, {eventTypes === null ? 'all event types' : `${eventTypes.length} event types`}
        </span>
        <span class="state" data-state={state}>
          {stateName}
        </span>
        <span class="row data-actions">
          {canSend && (status === 'disabled' || status === 'failing') && (
            <Button
              aria-label={`${resumeName} ${name}`}
              onClick={() => void act('resume', `${name} is resumed.`)}
            >
              {resumeName}
            </Button>
          )}
          {canSend && (
            <>
              <Button
                aria-label={`Send a test to ${name}`}
                onClick={() => void act('test', 'The test is queued.')}
              >
                Send a test
              </Button>
              <DialogButton name="Replay…" aria-label={`Replay ${name}`}>
                {(close) => <ReplayDialog webhook={webhook} onClose={close} onDone={onChange} />}
              </DialogButton>
            </>
          )}
          <Button look="quiet" aria-expanded={isOpen} aria-label={`Attempts of ${name}`} onClick={onToggle}>
            Attempts
          </Button>
        </span>
      </div>
      {note !== null && <p class="data-note">{note}</p>}
      {isOpen && <Attempts id={id} canSend={canSend} />}
    </li>
  );
};

/** Webhooks of the workspace: delivery status, attempts, tests and replays. Renders nothing if the workspace has none. */
export const Webhooks = () => {
  const { loaded, again } = useGet<WebhooksResponse>('/api/webhooks');
  const open = useSignal<string | null>(null);
  usePolling(again, open.value !== null);
  return (
    <LoadView loaded={loaded} again={again}>
      {({ webhooks }) =>
        webhooks.length > 0 && (
          <>
            <h2>Webhooks</h2>
            <ul class="stack">
              {webhooks.map((webhook) => (
                <Item
                  key={webhook.id}
                  webhook={webhook}
                  isOpen={open.value === webhook.id}
                  onToggle={() => {
                    open.value = open.value === webhook.id ? null : webhook.id;
                  }}
                  onChange={again}
                />
              ))}
            </ul>
          </>
        )
      }
    </LoadView>
  );
};
