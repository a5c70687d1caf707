import { defineCommand } from 'citty';
import { FEED_START, formatCursor, openForMaintenance, parseCursor } from '../service/index.ts';
import { chosenWorkspace, dbOption, requireDatabase } from './database.ts';
import { writeLine } from './stdout.ts';

const options = {
  action: {
    type: 'positional',
    description: 'attempts | resend | replay | resume; without one, the list',
    required: false,
  },
  id: { type: 'positional', description: 'ID of the webhook', required: false },
  message: { type: 'string', description: 'ID of the message (resend)', valueHint: 'ID' },
  from: { type: 'string', description: 'start, or a cursor (replay)', valueHint: 'CURSOR' },
  workspace: { type: 'string', description: 'Workspace ID; needed if there are several', valueHint: 'ID' },
  db: dbOption,
} as const;

const ACTIONS = ['attempts', 'resend', 'replay', 'resume'];
/** Maximum displayed attempts, equal to the maximum stored. */
const ATTEMPTS = 1_000;
const time = (ms: number | null) => (ms ? new Date(ms).toISOString() : null);

/** `placard webhooks`: shows the delivery status and attempts of webhooks, and redelivers. */
export const webhooks = defineCommand({
  meta: { name: 'webhooks', description: 'List webhooks and their attempts, or deliver again.' },
  args: options,
  run: async ({ args }) => {
    const { action, id, message, from } = args;
    if (action !== undefined && !ACTIONS.includes(action))
      throw new Error(`specify one of ${ACTIONS.join(', ')}, got "${action}"`);
    if (action !== undefined && id === undefined)
      throw new Error(`name the webhook: placard webhooks ${action} ID`);
    if (action === 'resend' && message === undefined) throw new Error('resend needs --message');
    const cursor = from === 'start' ? FEED_START : parseCursor(from ?? '');
    if (action === 'replay' && cursor === null)
      throw new Error('replay needs --from, start or a cursor such as 120-35-7');
    const db = requireDatabase(args.db, 'webhooks needs --db, the database that the service uses');
    const { webhooks: store, workspaceIds, close } = await openForMaintenance(db);
    const changed = async (isDone: Promise<boolean>, done: string, failed: string) => {
      if (!(await isDone)) throw new Error(failed);
      await writeLine(done);
    };
    try {
      const workspaceId = chosenWorkspace(await workspaceIds(), args.workspace) ?? '';
      const unknown = `the service has delivered nothing to a webhook "${id}"`;
      switch (action) {
        case undefined:
          for (const state of await store.states(workspaceId))
            await writeLine(
              JSON.stringify({
                webhook_id: state.webhookId,
                delivered_through: formatCursor(state.deliveredThrough),
                message_id: state.message?.messageId ?? null,
                failures: state.failures,
                failing_since: time(state.failingSinceMs),
                next_attempt: time(state.nextAttemptMs),
                disabled_reason: state.disabledReason,
              }),
            );
          return;
        case 'attempts':
          for (const attempt of await store.attempts(workspaceId, id!, ATTEMPTS))
            await writeLine(
              JSON.stringify({
                message_id: attempt.messageId,
                attempted_at: time(attempt.attemptedAtMs),
                status: attempt.status,
                error: attempt.error,
                duration_ms: attempt.durationMs,
                events: attempt.events,
                after: formatCursor(attempt.after),
                through: formatCursor(attempt.through),
              }),
            );
          return;
        case 'resend':
          if (!(await store.lastAttempt(workspaceId, id!, message!)))
            throw new Error(`no attempt of message "${message}" is kept`);
          return await changed(
            store.requestResend(workspaceId, id!, message!),
            `${message} is queued`,
            `another resend to "${id}" is queued`,
          );
        case 'replay':
          return await changed(
            store.replay(workspaceId, id!, cursor!),
            `${id} is delivered again from ${formatCursor(cursor!)}`,
            unknown,
          );
        default:
          return await changed(store.resume(workspaceId, id!), `${id} is resumed`, unknown);
      }
    } finally {
      await close();
    }
  },
});
