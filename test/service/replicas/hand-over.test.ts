import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHandOver } from '../../../src/service/replicas/hand-over.ts';
import type { Outcome } from '../../../src/service/replicas/outcome.ts';
import { NotTakenError } from '../../../src/service/replicas/post.ts';
import type { Track } from '../../../src/service/users/track-work.ts';

const aTrack = (nowMs: number): Track => ({
  workspaceId: 'test',
  nowMs,
  attributes: [],
  doings: [],
  nestedAllowed: true,
});

const aHandOver = (mostRequests = 2) => {
  const sent: { numbers: number[]; answer(outcome: Outcome): void; fail(error: Error): void }[] = [];
  let isClosed = false;
  const post = (body: string) =>
    new Promise<Outcome>((answer, fail) => {
      sent.push({ numbers: (JSON.parse(body) as Track[]).map(({ nowMs }) => nowMs), answer, fail });
    });
  const close = () => {
    isClosed = true;
  };
  const handOver = createHandOver({ post, close }, mostRequests);
  /** What became of each: `stored`, or the name of the error. */
  const send = (...numbers: number[]) => {
    const fates = numbers.map((number) =>
      handOver.send(aTrack(number)).then(
        () => 'stored',
        (error: Error) => error.name,
      ),
    );
    return { fates: Promise.all(fates), turn: nextTurn().then(() => nextTurn()) };
  };
  const numbers = () => sent.map((request) => request.numbers);
  return { handOver, sent, numbers, send, isClosed: () => isClosed };
};

test('what comes in one turn goes in one request, and hears of its own fate', async () => {
  const { sent, numbers, send } = aHandOver();
  const { fates, turn } = send(1, 2, 3);
  await turn;
  expect(numbers()).toEqual([[1, 2, 3]]);
  sent[0]!.answer({ failed: [1] });
  expect(await fates).toEqual(['stored', 'NotStoredError', 'stored']);
});

test('what comes while enough requests are under way shares the next', async () => {
  const { sent, numbers, send } = aHandOver(2);
  const early = [send(1), send(2)];
  await send(3).turn;
  await send(4).turn;
  const { fates, turn } = send(5, 6);
  await turn;
  expect(numbers()).toEqual([[1, 2, 3], [4]]);
  sent[0]!.answer({ failed: [] });
  expect(await early[0]!.fates).toEqual(['stored']);
  await nextTurn();
  expect(numbers()).toEqual([[1, 2, 3], [4], [5, 6]]);
  sent[2]!.answer({ failed: [] });
  expect(await fates).toEqual(['stored', 'stored']);
});

test('a request holds no more than 64 tracks, nor many megabytes', async () => {
  const { handOver, numbers, send } = aHandOver(10);
  await send(...Array.from({ length: 100 }, (_, i) => i)).turn;
  expect(numbers().map(({ length }) => length)).toEqual([64, 36]);
  const huge = { ...aTrack(0), workspaceId: 'x'.repeat(3_000_000) };
  void handOver.send(huge);
  void handOver.send(huge);
  await nextTurn();
  expect(numbers().map(({ length }) => length)).toEqual([64, 36, 1, 1]);
});

test('what another replica may have stored, or has not begun, is told apart from what it could not store', async () => {
  const { sent, send } = aHandOver();
  const { fates, turn } = send(1, 2, 3, 4);
  await turn;
  sent[0]!.answer({ failed: [0, 1, 2], inDoubt: [0], notNow: [2] });
  expect(await fates).toEqual(['InDoubtError', 'NotStoredError', 'NotNowError', 'stored']);
});

test('what waits too long for a slow replica is given back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { send } = aHandOver(1);
  await send(1).turn;
  const late = send(2);
  vi.advanceTimersByTime(10_000);
  expect(await late.fates).toEqual(['NotTakenError']);
});

test('where a request fails nobody knows of what was in it; what was not sent is given back', async () => {
  const { sent, send } = aHandOver(1);
  const first = send(1, 2);
  await first.turn;
  const second = send(3);
  sent[0]!.fail(new Error('no answer'));
  expect(await first.fates).toEqual(['Error', 'Error']);
  expect(await second.fates).toEqual(['NotTakenError']);
});

test('what was not taken is given back', async () => {
  const { sent, send } = aHandOver();
  const { fates, turn } = send(1);
  await turn;
  sent[0]!.fail(new NotTakenError('it is leaving'));
  expect(await fates).toEqual(['NotTakenError']);
});

test('once closed it sends nothing more, and hears what is under way to its end', async () => {
  const { handOver, sent, numbers, send, isClosed } = aHandOver(1);
  const first = send(1);
  await first.turn;
  const second = send(2);
  handOver.close();
  expect(await second.fates).toEqual(['NotTakenError']);
  expect(await send(3).fates).toEqual(['NotTakenError']);
  expect(isClosed()).toBe(false);
  sent[0]!.answer({ failed: [] });
  expect(await first.fates).toEqual(['stored']);
  await expect.poll(isClosed).toBe(true);
  expect(numbers()).toEqual([[1]]);
});
